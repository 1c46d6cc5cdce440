import { useQuery } from '@tanstack/react-query';
import type { Replay, Webhook } from '#webhooks/shapes.ts';
import { callOperation } from '../api/operations.ts';
import { eventChoices } from './events.ts';
import type { WebhookOwner } from './webhooks-query.ts';
import './replay.css';
import { type ReactElement, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { useAction } from '../design/action.tsx';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { TextField } from '../design/field.tsx';
import { Message } from '../design/message.tsx';
import { Select } from '../design/select.tsx';
import { TaskProgress } from '../design/task-progress.tsx';
import { AgoText, formatDateTime } from '../design/time.tsx';
import { mayEdit } from '../shell/session.ts';
import {
  describeReplayFilter,
  type ReplayDraft,
  replayCountQuery,
  replayQueryOf,
  replaysQuery,
} from './replay-query.ts';

const statuses = [
  { id: 'Failed', label: 'Failed' },
  { id: 'Success', label: 'Delivered' },
  { id: 'any', label: 'Failed and delivered' },
] as const;

const events = [
  { id: 'all', label: 'All' },
  ...eventChoices.map(({ id, label }) => ({ id, label })),
] as const;

type Props = {
  form: WebhookOwner;
  webhook: Webhook;
  /** The initial values of the form. */
  draft?: Partial<ReplayDraft>;
  /** The reason why the dialog opened, if the user did not open it. */
  reason?: string;
  onClose: () => void;
};

/** Shows how many deliveries would be sent again, then sends them in the background. */
export function ReplayDialog({ form, webhook, draft: given, reason, onClose }: Props): ReactElement {
  const [draft, setDraft] = useState<ReplayDraft>({
    status: 'Failed',
    event: 'all',
    from: '',
    to: '',
    ...given,
  });
  const set = (change: Partial<ReplayDraft>): void => setDraft((before) => ({ ...before, ...change }));
  const counted = useQuery(replayCountQuery(form, webhook.id, draft));
  const total = counted.data?.total;
  const start = useAction({
    run: () =>
      callOperation(form.workspace_id, 'startReplay', {
        params: { id: webhook.id },
        body: replayQueryOf(draft),
      }),
    done: ({ total: begun }) => `${formatCount(begun, 'delivery', 'deliveries')} will be resent.`,
    onDone: onClose,
  });
  const problem = start.error ?? counted.error;
  return (
    <Dialog
      title="Resend deliveries"
      description={reason ?? 'Receivers can recognize deliveries that they already have.'}
      size="medium"
      onClose={onClose}
      isPending={start.isPending}
      onSubmit={() => total && start.mutate()}
      actions={
        <>
          <Button onPress={onClose}>{reason ? 'Not now' : 'Cancel'}</Button>
          <Button
            type="submit"
            variant="primary"
            icon="refresh"
            isDisabled={!total}
            isPending={start.isPending}
          >
            {total ? `Resend ${formatCount(total, 'delivery', 'deliveries')}` : 'Resend'}
          </Button>
        </>
      }
    >
      <div className="replay-fields">
        <Select
          label="Status"
          choices={statuses}
          value={draft.status}
          onChange={(status) => set({ status })}
        />
        <Select label="Event" choices={events} value={draft.event} onChange={(event) => set({ event })} />
        <TextField label="From" type="date" value={draft.from} onChange={(from) => set({ from })} />
        <TextField label="To" type="date" value={draft.to} onChange={(to) => set({ to })} />
      </div>
      <p role="status">
        {total === undefined
          ? 'Counting…'
          : total === 0
            ? 'No matching deliveries.'
            : `${formatCount(total, 'delivery', 'deliveries')} will be resent, oldest first. New events are sent in between.`}
      </p>
      {problem && <Message tone="bad">{problem.message}</Message>}
    </Dialog>
  );
}

/** How long the result of a replay is shown, in milliseconds. */
const newsMs = 10 * 60 * 1_000;

/** Shows the running replay of a webhook with a cancel button, or the result of the last one. */
export function ReplayProgress({
  form,
  webhook,
}: {
  form: WebhookOwner;
  webhook: string;
}): ReactElement | null {
  const replay = useQuery(replaysQuery(form, webhook)).data?.data[0];
  const cancel = useAction({
    run: ({ id }: Replay) => callOperation(form.workspace_id, 'cancelReplay', { params: { id } }),
    problem: 'toast',
  });
  if (!replay) return null;
  const words = `${replay.done.toLocaleString()} of ${replay.total.toLocaleString()}`;
  if (replay.ended_at !== null) {
    if (Date.now() - Date.parse(replay.ended_at) > newsMs) return null;
    return (
      <Message tone={replay.state === 'finished' ? 'good' : 'info'}>
        {replay.state === 'finished' ? 'Replay finished:' : 'Replay canceled:'} {words} deliveries resent (
        {describeReplayFilter(replay.filter, formatDateTime)}), <AgoText at={replay.ended_at} />.
      </Message>
    );
  }
  return (
    <TaskProgress
      label="Replay"
      task={replay}
      unit="deliveries"
      note={describeReplayFilter(replay.filter, formatDateTime)}
      action={
        mayEdit(form.role) && (
          <Button size="small" isPending={cancel.isPending} onPress={() => cancel.start(replay)}>
            Cancel replay
          </Button>
        )
      }
    />
  );
}
