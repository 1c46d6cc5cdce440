import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { HeldDetail, SpamDecided, SpamPage } from '#console/spam/shapes.ts';
import { get, post, query } from '../../api/client.ts';
import { formPath } from '../../shell/form-place.ts';
import { type FormPlace, refreshSubmissions, rowsOfPage } from '../queries.ts';

const spamPath = (form: FormPlace): string => `${formPath(form)}/spam`;

// Below the key of all submissions: what refreshes them refreshes this too.
const key = (form: FormPlace, ...rest: readonly unknown[]) => ['submissions', form.id, 'spam', ...rest];

export const spamQuery = (form: FormPlace, page: number) =>
  queryOptions({
    queryKey: key(form, page),
    queryFn: () => get<SpamPage>(spamPath(form) + query({ page, per_page: rowsOfPage })),
    placeholderData: keepPreviousData,
  });

/** How much is held, which the way to the spam box says. */
export const spamCountQuery = (form: FormPlace) =>
  queryOptions({
    queryKey: key(form, 'count'),
    queryFn: async () =>
      (await get<SpamPage>(spamPath(form) + query({ per_page: 1 }))).pagination.total_count,
  });

export const heldQuery = (form: FormPlace, id: string) =>
  queryOptions({
    queryKey: key(form, 'one', id),
    queryFn: () => get<HeldDetail>(`${spamPath(form)}/${id}`),
  });

/** What is decided on what was held: it becomes submissions, or is gone for good. */
export type Decision = 'releases' | 'removals';

/** Decides, and says how many there still were. */
export const decide = (form: FormPlace, decision: Decision, ids: readonly string[]): Promise<number> =>
  tell(form, decision, { ids });

/** Names a site in the form's settings, releases what was held because they did not, and says how many. */
export const allowSite = (form: FormPlace, origin: string): Promise<number> =>
  tell(form, 'sites', { origin });

async function tell(form: FormPlace, path: string, body: object): Promise<number> {
  try {
    return (await post<SpamDecided>(`${spamPath(form)}/${path}`, body)).count;
  } finally {
    // Also after a problem: those before it may have been released.
    await refreshSubmissions(form);
  }
}
