import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { isRecord, own } from '#ast/json.ts';
import { tagOf } from '#kit/tag-of.ts';
import type { InputOf, ReplyOf } from '#app/operations.ts';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { call } from '../../../api/operations.ts';
import { toastDone } from '../../../design/toast.tsx';
import { type FormPlace, refreshSubmissions } from '../../queries.ts';

/** What a form that changes a submission is given. */
export type EditProps = { form: FormPlace; submission: SubmissionDetail; onDone: () => void };

/** A submission in the state that somebody looked at. */
type Seen = Pick<SubmissionDetail, 'id' | 'etag' | 'status' | 'tags'>;
type Patch = NonNullable<InputOf<'changeSubmission'>['body']>;
/** A patch, or what it is by the state that it will be made on, the last of those that one's own changes made since. */
type Asked = Patch | ((on: Seen, since: readonly Seen[]) => Patch);
type Reply = ReplyOf<'changeSubmission'>;

/** What one's own changes made, by the state that each was made on. */
const madeOf = new Map<string, Seen>();
const keyOf = ({ id, etag }: Seen): string => `${id} ${etag}`;

/** A state, and those that one's own changes made of it, one after the other: nobody else's lies between. */
function statesSince(seen: Seen): [Seen, ...Seen[]] {
  const next = madeOf.get(keyOf(seen));
  return next ? [seen, ...statesSince(next)] : [seen];
}

async function makeChange(form: FormPlace, seen: Seen, asked: Asked): Promise<{ on: Seen; reply: Reply }> {
  const since = statesSince(seen);
  const on = since.at(-1)!;
  const body = typeof asked === 'function' ? asked(on, since) : asked;
  const reply = await call(
    form.workspace_id,
    'changeSubmission',
    { params: { id: on.id }, body },
    { seen: on },
  );
  const { status, tags, updated_at } = reply;
  const made = { ...on, status, tags, etag: tagOf(new Date(updated_at)) };
  if (made.etag !== on.etag) madeOf.set(keyOf(on), made);
  return { on, reply };
}

/**
 * One change of a submission. It says what it was made on, so that somebody else's change in between is not
 * overwritten: then the newer state is fetched, and the person is told. Changes of one submission take turns, and each is
 * made on what one's own before it made.
 * @param seen for an edit what it began with, however the submission may have been fetched anew since.
 */
export function useChange(
  form: FormPlace,
  seen: Seen,
  {
    onDone,
    sayDone = () => 'Saved.',
    takeBack,
  }: {
    onDone?: (reply: Reply) => void;
    sayDone?: (reply: Reply) => string;
    /** What takes back what a change did, as far as it is still as that left it: then it can be undone. */
    takeBack?: (change: { on: Seen; made: Seen }) => Asked;
  } = {},
) {
  const scope = `submission ${seen.id}`;
  return useMutation({
    scope: { id: scope },
    mutationFn: (asked: Asked) => makeChange(form, seen, asked),
    async onSuccess({ on, reply }) {
      const made = statesSince(on).at(-1)!;
      await refreshSubmissions(form);
      const back = takeBack?.({ on, made });
      toastDone(sayDone(reply), back && { label: 'Undo', scope, run: () => undo(back, made) });
      onDone?.(reply);
    },
  });

  /** Unless somebody else has changed it meanwhile. */
  async function undo(asked: Asked, made: Seen): Promise<void> {
    await makeChange(form, made, asked);
    await refreshSubmissions(form);
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
