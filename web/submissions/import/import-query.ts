import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { InputOf, ReplyOf } from '#app/operations.ts';
import { call } from '../../api/operations.ts';
import type { FormPlace } from '../queries.ts';

/** A file of answers, and how its columns and values are meant. */
export type ImportSource = InputOf<'startSubmissionImport'>['body'];
export type ImportPreview = ReplyOf<'previewSubmissionImport'>;
export type ColumnUse = ImportPreview['mapping'][number];
export type ImportProgress = ReplyOf<'listSubmissionImports'>['data'][number];

export const importPreviewQuery = (form: FormPlace, source: ImportSource | undefined) =>
  queryOptions({
    queryKey: ['import preview', form.id, source],
    queryFn: ({ signal }) =>
      call(
        form.workspace_id,
        'previewSubmissionImport',
        { params: { id: form.id }, body: source! },
        { signal },
      ),
    enabled: source !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });

export const startImport = (form: FormPlace, source: ImportSource) =>
  call(form.workspace_id, 'startSubmissionImport', { params: { id: form.id }, body: source });

/** The last imports of a form; asked for again while one is under way. */
export const importsQuery = (form: FormPlace) =>
  queryOptions({
    queryKey: ['imports', form.id],
    queryFn: async () =>
      (await call(form.workspace_id, 'listSubmissionImports', { params: { id: form.id } })).data,
    refetchInterval: ({ state }) =>
      state.data?.some(({ finished_at, failed_reason }) => finished_at === null && failed_reason === null)
        ? 1_000
        : false,
  });
