import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SubmissionDetail } from '#console/submissions/shapes.ts';
import { ApiProblem, put } from '../../../api/client.ts';
import { toastDone } from '../../../design/toast.tsx';
import { type FormPlace, refreshSubmissions, submissionsPath } from '../../queries.ts';

/** A submission in the state that somebody looked at. */
type Seen = Pick<SubmissionDetail, 'id' | 'updated_at'>;

/**
 * One change of a submission. It says what it was made on, so that somebody else's change in between is not
 * overwritten: then the newer state is fetched, and the person is told.
 * @param seen for an edit what it began with, however the submission may have been fetched anew since.
 */
export function useChange<Body extends object, Reply = unknown>(
  form: FormPlace,
  seen: Seen,
  part: 'answers' | 'reference' | 'status',
  { onDone, sayDone = () => 'Saved.' }: { onDone?: () => void; sayDone?: (reply: Reply) => string } = {},
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Body) =>
      put<Reply>(`${submissionsPath(form)}/${seen.id}/${part}`, { ...body, seen: seen.updated_at }),
    async onSuccess(reply) {
      await refreshSubmissions(form);
      toastDone(sayDone(reply));
      onDone?.();
    },
    async onError(error) {
      if (isStale(error))
        await client.invalidateQueries({ queryKey: ['submissions', form.id, 'detail', seen.id] });
    },
  });
}

/** Whether somebody else was faster. */
export const isStale = (error: unknown): boolean => error instanceof ApiProblem && error.status === 412;
