import { useBlocker } from '@tanstack/react-router';
import { type ReactElement, useEffect, useRef } from 'react';
import type { InputOf, ReplyOf } from '#app/operations/operations.ts';
import { formatCount, pluralize } from '#ast/basics/format-number.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { ApiProblem, isConcurrentChangeError } from '../../../api/client.ts';
import { callOperation } from '../../../api/operations.ts';
import { useAction } from '../../../design/action.tsx';
import { ConfirmDialog } from '../../../design/dialog.tsx';
import { ConcurrentChangeMessage, Message } from '../../../design/message.tsx';
import type { FormLocation } from '../../queries.ts';

type EditErrorMessageProps = { error: Error; onDiscard: () => void };

/** Explains why an edit was not saved. */
export function EditErrorMessage({ error, onDiscard }: EditErrorMessageProps): ReactElement {
  if (isConcurrentChangeError(error)) return <ConcurrentChangeMessage error={error} onDiscard={onDiscard} />;
  const count = error instanceof ApiProblem ? error.errors.length : 0;
  if (count === 0)
    return (
      <Message tone="bad" title="Not saved">
        {error.message}
      </Message>
    );
  return (
    <Message tone="bad" title={`There ${pluralize(count, 'is', 'are')} ${formatCount(count, 'problem')}`}>
      {error.message}
    </Message>
  );
}

/**
 * Asks before the user leaves an unsaved edit: by opening another row or screen, going back, or closing the
 * window. Also asks while the edit is being saved, because that can fail.
 */
export function UnsavedGuard({
  isDirty,
  what = 'You have unsaved changes.',
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
      onClose={blocker.reset}
      confirmLabel="Discard changes"
      onConfirm={blocker.proceed}
    >
      <p>{what}</p>
    </ConfirmDialog>
  );
}

/** Props of the forms that edit a submission. */
export type EditProps = { form: FormLocation; submission: SubmissionDetail; onDone: () => void };

/** A submission in the state that the person saw. */
type SeenSubmission = Pick<SubmissionDetail, 'id' | 'etag' | 'status' | 'tags' | 'stage_id' | 'assignee_id'>;
type Patch = NonNullable<InputOf<'changeSubmission'>['body']>;
/**
 * A patch, or a function that returns one. It receives the state to patch, and the states that the person's
 * changes have produced since the edit began.
 */
type PatchSource = Patch | ((on: SeenSubmission, since: readonly SeenSubmission[]) => Patch);
type Reply = ReplyOf<'changeSubmission'>;

/** The state that each of the person's changes produced, by the state it was based on. */
const resultingStates = new Map<string, SeenSubmission>();
const keyOf = ({ id, etag }: SeenSubmission): string => `${id} ${etag}`;

/**
 * Returns a state and the states that the person's changes produced from it, without changes by other people
 * in between.
 */
function statesSince(seen: SeenSubmission): [SeenSubmission, ...SeenSubmission[]] {
  const next = resultingStates.get(keyOf(seen));
  return next ? [seen, ...statesSince(next)] : [seen];
}

async function makeChange(
  form: FormLocation,
  seen: SeenSubmission,
  patch: PatchSource,
): Promise<{ on: SeenSubmission; reply: Reply }> {
  const since = statesSince(seen);
  const on = since.at(-1)!;
  const body = typeof patch === 'function' ? patch(on, since) : patch;
  const reply = await callOperation(
    form.workspace_id,
    'changeSubmission',
    { params: { id: on.id }, body },
    { seen: on },
  );
  const { status, tags, stage_id, assignee_id, updated_at } = reply;
  const after = { ...on, status, tags, stage_id, assignee_id, etag: formatEtag(new Date(updated_at)) };
  if (after.etag !== on.etag) resultingStates.set(keyOf(on), after);
  return { on, reply };
}

/**
 * Returns an action that changes a submission. If another person changed it in the meantime, their change is
 * not overwritten: the newer state is fetched and the person is informed. Changes of one submission run in
 * order, each based on the previous one.
 * @param seen the state when the edit began, even if the submission has been fetched again since.
 */
export function useSubmissionChange(
  form: FormLocation,
  seen: SeenSubmission,
  {
    onDone,
    describeDone = () => 'Saved.',
    revert,
  }: {
    onDone?: (reply: Reply) => void;
    describeDone?: (reply: Reply) => string;
    /**
     * Returns a patch that reverts a change where the submission still has the changed value. If set, the
     * toast offers Undo.
     */
    revert?: (change: { on: SeenSubmission; after: SeenSubmission }) => PatchSource;
  } = {},
) {
  const scope = `submission ${seen.id}`;
  return useAction({
    scope: { id: scope },
    run: (patch: PatchSource) => makeChange(form, seen, patch),
    done({ on, reply }) {
      const after = statesSince(on).at(-1)!;
      const back = revert?.({ on, after });
      return {
        text: describeDone(reply),
        // Undo works unless another person has changed the submission since.
        action: back && { label: 'Undo', scope, run: () => makeChange(form, after, back) },
      };
    },
    onDone: ({ reply }) => onDone?.(reply),
  });
}

/** Ends an edit after saving. If the person typed meanwhile, the edit continues from the saved state. */
export function useFinishEdit(
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

/** Creates a JSON merge patch; removed values become null. */
export function mergePatchOf<Value>(
  before: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, Value>>,
): Record<string, Value | null> {
  const gone = Object.keys(before).map((name) => [name, null] as const);
  const put = Object.entries(values).map(([name, value]) => {
    const old = getProperty(before, name);
    // Objects, such as the answers of a matrix, are merged, so removed rows must be null.
    return [
      name,
      isRecord(old) && isRecord(value) ? (mergePatchOf(old, value) as Value) : (value ?? null),
    ] as const;
  });
  return Object.fromEntries<Value | null>([...gone, ...put]);
}
