import { useBlocker } from '@tanstack/react-router';
import { type ReactElement, useEffect, useRef } from 'react';
import type { InputOf, ReplyOf } from '#app/operations/operations.ts';
import { isRecord, own } from '#ast/basics/json.ts';
import { sayCount, wordFor } from '#ast/basics/say-count.ts';
import { tagOf } from '#kit/replies/tag-of.ts';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { ApiProblem, isStale } from '../../../api/client.ts';
import { call } from '../../../api/operations.ts';
import { useAction } from '../../../design/action.tsx';
import { ConfirmDialog } from '../../../design/dialog.tsx';
import { ChangedMeanwhile, Message } from '../../../design/message.tsx';
import type { FormPlace } from '../../queries.ts';

/** Why an edit was not saved. */
export function ChangeProblem({ error, onDiscard }: { error: Error; onDiscard: () => void }): ReactElement {
  if (isStale(error)) return <ChangedMeanwhile error={error} onDiscard={onDiscard} />;
  const count = error instanceof ApiProblem ? error.errors.length : 0;
  if (count === 0)
    return (
      <Message tone="bad" title="Not saved">
        {error.message}
      </Message>
    );
  return (
    <Message tone="bad" title={`There ${wordFor(count, 'is', 'are')} ${sayCount(count, 'problem')}`}>
      {error.message}
    </Message>
  );
}

/**
 * Asks before an edit is left that was not saved: by another row, another screen, Back, or the window's end. While it is
 * being saved, too: that may fail.
 */
export function UnsavedGuard({
  isDirty,
  what = 'The answers that you changed are not saved.',
}: {
  isDirty: boolean;
  what?: string;
}): ReactElement | null {
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <ConfirmDialog
      title="Leave without saving?"
      isOpen
      onClose={blocker.reset}
      confirmLabel="Discard my edit"
      onConfirm={blocker.proceed}
    >
      <p>{what}</p>
    </ConfirmDialog>
  );
}

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
  return useAction({
    scope: { id: scope },
    run: (asked: Asked) => makeChange(form, seen, asked),
    done({ on, reply }) {
      const made = statesSince(on).at(-1)!;
      const back = takeBack?.({ on, made });
      return {
        text: sayDone(reply),
        // Unless somebody else has changed it meanwhile.
        action: back && { label: 'Undo', scope, run: () => makeChange(form, made, back) },
      };
    },
    onDone: ({ reply }) => onDone?.(reply),
  });
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
export function patchOf<Value>(
  before: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, Value>>,
): Record<string, Value | null> {
  const gone = Object.keys(before).map((name) => [name, null] as const);
  const put = Object.entries(values).map(([name, value]) => {
    const old = own(before, name);
    // An object is merged with what is there, as a matrix is: its rows that are gone are said to be.
    return [
      name,
      isRecord(old) && isRecord(value) ? (patchOf(old, value) as Value) : (value ?? null),
    ] as const;
  });
  return Object.fromEntries<Value | null>([...gone, ...put]);
}
