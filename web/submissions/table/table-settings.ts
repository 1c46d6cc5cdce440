import { queryOptions, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { assignmentColumns } from '#rules/columns.ts';
import type { TableSettings } from '#submissions/shapes.ts';
import { callSessionOperation } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { toastProblem } from '../../design/toast.tsx';
import type { FormLocation } from '../queries.ts';

export type { TableSettings };

/** The default settings of a table. */
export const usualSettings: TableSettings = {
  order: [],
  hidden: [assignmentColumns.stage, assignmentColumns.assignee, '$reference'],
  widths: {},
  pinned: 0,
  is_tall: false,
};

/** Whether answer columns are hidden or reordered. */
export const hasChangedColumns = ({ order, hidden }: TableSettings): boolean =>
  order.length > 0 || hidden.some((id) => !id.startsWith('$'));

const settingsQuery = (form: FormLocation) =>
  queryOptions({
    queryKey: ['table-settings', form.id],
    queryFn: async () => (await callSessionOperation('getArrangement', { params: { id: form.id } })).settings,
    // Only this window changes them. Changes from other windows load on the next visit.
    staleTime: Infinity,
  });

/**
 * Returns the person's table settings for the form and a function to change them; undefined while loading.
 * The service stores the settings, so they apply in all browsers. Changes apply immediately and are saved in
 * order. Only the latest pending state is sent, even if the user leaves the page.
 */
export function useTableSettings(
  form: FormLocation,
): [TableSettings | undefined, (change: Partial<TableSettings>) => void] {
  const { data, error } = useQuery(settingsQuery(form));
  const saving = useRef<Saving>({ isBusy: false, next: undefined });
  // If the settings cannot be loaded, the submissions are shown with the defaults.
  const settings = error || data === null ? usualSettings : data;
  const change = useCallback(
    (part: Partial<TableSettings>) => {
      const { queryKey } = settingsQuery(form);
      const put = (): void => {
        const next = { ...usualSettings, ...queryClient.getQueryData(queryKey), ...part };
        queryClient.setQueryData(queryKey, next);
        saving.current.next = next;
        void saveSequentially(form, saving.current);
      };
      // Settings that could not be read must not be overwritten.
      if (queryClient.getQueryData(queryKey) === undefined)
        queryClient.fetchQuery(settingsQuery(form)).then(put, toastProblem);
      else put();
    },
    [form],
  );
  useEffect(() => {
    const flush = (): void => void saveNext(form, saving.current);
    addEventListener('pagehide', flush);
    return () => removeEventListener('pagehide', flush);
  }, [form]);
  return [settings, change];
}

type Saving = { isBusy: boolean; next: TableSettings | undefined };

async function saveNext(form: FormLocation, saving: Saving): Promise<void> {
  const { next: body } = saving;
  saving.next = undefined;
  if (body)
    await callSessionOperation(
      'saveArrangement',
      { params: { id: form.id }, body },
      { keepalive: true },
    ).catch(toastProblem);
}

async function saveSequentially(form: FormLocation, saving: Saving): Promise<void> {
  if (saving.isBusy) return;
  saving.isBusy = true;
  while (saving.next) await saveNext(form, saving);
  saving.isBusy = false;
}
