import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call } from '../../api/operations.ts';
import { type FormPlace, refreshSubmissions, rowsOfPage } from '../queries.ts';

const list = (form: FormPlace, query: { page?: number; per_page: number }) =>
  call(form.workspace_id, 'listSpam', { params: { id: form.id }, query });

// Below the key of all submissions: what refreshes them refreshes this too.
const key = (form: FormPlace, ...rest: readonly unknown[]) => ['submissions', form.id, 'spam', ...rest];

export const spamQuery = (form: FormPlace, page: number) =>
  queryOptions({
    queryKey: key(form, page),
    queryFn: () => list(form, { page, per_page: rowsOfPage }),
    placeholderData: keepPreviousData,
  });

/** How much is held, which the way to the spam box says. */
export const spamCountQuery = (form: FormPlace) =>
  queryOptions({
    queryKey: key(form, 'count'),
    queryFn: async () => (await list(form, { per_page: 1 })).pagination.total_count,
  });

export const heldQuery = (form: FormPlace, id: string) =>
  queryOptions({
    queryKey: key(form, 'one', id),
    queryFn: () => call(form.workspace_id, 'getSpam', { params: { id: form.id, held: id } }),
  });

/** What is decided on what was held: it becomes submissions, or is gone for good. */
type Decision = 'releaseSpam' | 'deleteSpam';

/** Decides, and says how many there still were. */
export const decide = (form: FormPlace, decision: Decision, ids: readonly string[]): Promise<number> =>
  tell(form, call(form.workspace_id, decision, { params: { id: form.id }, body: { ids: [...ids] } }));

/** Names a site in the form's settings, releases what was held because they did not, and says how many. */
export const allowSite = (form: FormPlace, origin: string): Promise<number> =>
  tell(form, call(form.workspace_id, 'allowSite', { params: { id: form.id }, body: { origin } }));

async function tell(form: FormPlace, decided: Promise<{ count: number }>): Promise<number> {
  try {
    return (await decided).count;
  } finally {
    // Also after a problem: those before it may have been released.
    await refreshSubmissions(form);
  }
}
