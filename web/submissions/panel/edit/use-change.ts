import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { isRecord, own } from '#ast/json.ts';
import type { InputOf, ReplyOf } from '#app/operations.ts';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { call } from '../../../api/operations.ts';
import { toastDone, toastProblem } from '../../../design/toast.tsx';
import { type FormPlace, refreshSubmissions } from '../../queries.ts';

/** A submission in the state that somebody looked at. */
type Seen = Pick<SubmissionDetail, 'id' | 'etag'>;
type Patch = InputOf<'changeSubmission'>['body'];
type Reply = ReplyOf<'changeSubmission'>;

/**
 * One change of a submission. It says what it was made on, so that somebody else's change in between is not
 * overwritten: then the newer state is fetched, and the person is told.
 * @param seen for an edit what it began with, however the submission may have been fetched anew since.
 */
export function useChange(
  form: FormPlace,
  seen: Seen,
  {
    onDone,
    sayDone = () => 'Saved.',
    before,
  }: {
    onDone?: (reply: Reply) => void;
    sayDone?: (reply: Reply) => string;
    /** What makes it as it was: then it can be undone. */
    before?: NonNullable<Patch>;
  } = {},
) {
  const params = { id: seen.id };
  return useMutation({
    mutationFn: (body: NonNullable<Patch>) =>
      call(form.workspace_id, 'changeSubmission', { params, body }, { seen }),
    async onSuccess(reply) {
      await refreshSubmissions(form);
      toastDone(sayDone(reply), before && { label: 'Undo', run: () => void undo(before, reply) });
      onDone?.(reply);
    },
  });

  /** Unless somebody else has changed it meanwhile. */
  async function undo(body: NonNullable<Patch>, reply: Reply): Promise<void> {
    try {
      await call(form.workspace_id, 'changeSubmission', { params, body }, { seen: reply });
      await refreshSubmissions(form);
    } catch (error) {
      toastProblem(error);
    }
  }
}

/** Ends an edit that was saved; one that was written on meanwhile goes on, from what was saved. */
export function useEnd(
  draft: unknown,
  { onDone, goOn }: { onDone: () => void; goOn: (saved: Reply) => void },
): { noteSent: () => void; end: (saved: Reply) => void } {
  const now = useRef(draft);
  const sent = useRef(draft);
  useEffect(() => {
    now.current = draft;
  }, [draft]);
  return {
    noteSent: () => (sent.current = draft),
    end: (saved) => (now.current === sent.current ? onDone() : goOn(saved)),
  };
}

/** As a merge patch: what is not among the values any more is taken away. */
export const patchOf = <Value>(
  before: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, Value>>,
): Record<string, Value | null> => ({
  ...Object.fromEntries(Object.keys(before).map((name) => [name, null])),
  ...Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const old = own(before, name);
      // An object is merged with what is there, as a matrix is: its rows that are gone are said to be.
      const isMerged = isRecord(old) && isRecord(value);
      return [name, isMerged ? (patchOf(old, value) as Value) : (value ?? null)];
    }),
  ),
});
