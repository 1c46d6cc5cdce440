import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ReplyOf } from '#app/operations.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';

export type RetentionRule = ReplyOf<'getRetention'>['rules'][number];
export type RetentionKind = RetentionRule['kind'];
export type Due = ReplyOf<'previewRetention'>['data'][number];
/** Whose rules: of the workspace, or of one of its forms. */
export type RetentionPlace = { workspace: string; form: string | undefined };
export type Days = RetentionRule['days'] | null;

export const retentionQuery = ({ workspace, form }: RetentionPlace) =>
  queryOptions({
    queryKey: ['retention', workspace, form ?? ''],
    queryFn: () => readRetention({ workspace, form }),
    staleTime: 0,
  });

/** `audit_days`: of the workspace alone. */
async function readRetention({ workspace, form }: RetentionPlace) {
  if (form === undefined) return call(workspace, 'getRetention', {});
  const found = await call(workspace, 'getFormRetention', { params: { id: form } });
  return { ...found, audit_days: undefined };
}

/** What goes when; with a change, as it would be. */
export const dueQuery = ({ workspace, form }: RetentionPlace, change?: { kind: RetentionKind; days: Days }) =>
  queryOptions({
    queryKey: ['retention-due', workspace, form ?? '', change?.kind, change?.days],
    queryFn: () =>
      call(workspace, 'previewRetention', {
        body: { ...(form !== undefined && { form_id: form }), ...(change && { [change.kind]: change.days }) },
      }),
    select: ({ data }) => new Map(data.map((due) => [due.kind, due])),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

/** Says for how long something is kept. */
export async function saveDays(
  { workspace, form }: RetentionPlace,
  { kind, days }: { kind: RetentionKind; days: Days },
  seen: { updated_at: string },
): Promise<void> {
  const body = { [kind]: days };
  await (form === undefined
    ? call(workspace, 'changeRetention', { body }, { seen })
    : call(workspace, 'changeFormRetention', { params: { id: form }, body }, { seen }));
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['retention', workspace] }),
    queryClient.invalidateQueries({ queryKey: ['retention-due', workspace] }),
  ]);
}
