import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { LocatedForm } from '#search/table-arrangement.ts';
import { refetchChangedQueries } from '../api/changes.ts';
import { sessionOperationQuery } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';

export type { LocatedForm };

/** Loads a form by its ID, with the data that its screens share. */
export const formQuery = (id: string) =>
  queryOptions(sessionOperationQuery('locateForm', { params: { id } }));

/** Returns the form in the URL. It is loaded before the screens render. */
export function useCurrentForm(): LocatedForm {
  const { form } = useParams({ strict: false });
  return useSuspenseQuery(formQuery(form)).data;
}

/** Refreshes a form after the builder changed its name or status. */
export async function refreshForm(id: string): Promise<void> {
  await Promise.all([queryClient.invalidateQueries(formQuery(id)), refetchChangedQueries('publishForm')]);
}
