import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { LocatedForm } from '#submissions/table-arrangement.ts';
import { refreshChanged } from '../api/changes.ts';
import { readSessionQuery } from '../api/operations.ts';
import { queryClient } from '../api/query-client.ts';

export type { LocatedForm };

/** Where a form is and what its screens share, by its id alone. */
export const formQuery = (id: string) => queryOptions(readSessionQuery('locateForm', { params: { id } }));

/** The form of the address, on a form's screens; it was loaded before they are drawn. */
export function useForm(): LocatedForm {
  const { form } = useParams({ strict: false });
  return useSuspenseQuery(formQuery(form)).data;
}

/** After a change of a form's name or status that the builder made. */
export async function refreshForm(id: string): Promise<void> {
  await Promise.all([queryClient.invalidateQueries(formQuery(id)), refreshChanged('publishForm')]);
}
