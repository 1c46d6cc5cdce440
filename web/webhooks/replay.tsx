import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import type { Replay, ReplayQuery, Webhook } from '#webhooks/shapes.ts';
import { call } from '../api/operations.ts';
import type { LocatedForm } from '../shell/form-place.ts';
import { eventChoices, type EventKind, shortEvent } from './events.ts';
import { logParameters } from './log/log-view.ts';
import './replay.css';
import { type ReactElement, useState } from 'react';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { TextField } from '../design/field.tsx';
import { Message } from '../design/message.tsx';
import { Select } from '../design/select.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
import { refreshWebhooks } from './webhooks-query.ts';
import { sayCount } from '#ast/say-count.ts';
import { AgoText, sayMoment } from '../design/time.tsx';
import { mayEdit } from '../shell/session.ts';

type Form = Pick<LocatedForm, 'workspace_id' | 'id'>;

/** Which deliveries are sent again. Days are the reader's own, `YYYY-MM-DD`, both included. */
export type ReplayDraft = {
  status: 'Failed' | 'Success' | 'any';
  event: EventKind | 'all';
  from: string;
  to: string;
};

/** The draft as the service takes it: days become moments. */
export function replayQueryOf({ status, event, from, to }: ReplayDraft): ReplayQuery {
  const days = logParameters({ ...(from && { from }), ...(to && { to }) });
  return {
    status,
    ...(event !== 'all' && { event }),
    ...(typeof days['from'] === 'string' && days['from'] && { since: days['from'] }),
    ...(typeof days['to'] === 'string' && days['to'] && { until: days['to'] }),
  };
}

/** What a replay is about, in words: "failed, created, from 3 May". */
export const sayFilter = (
  filter: { status: string | null; event: EventKind | null; since: string | null; until: string | null },
  sayMoment: (at: string) => string,
): string =>
  [
    filter.status === null ? 'delivered or failed' : filter.status === 'Failed' ? 'failed' : 'delivered',
    filter.event && shortEvent(filter.event).toLowerCase(),
    filter.since && `from ${sayMoment(filter.since)}`,
    filter.until && `before ${sayMoment(filter.until)}`,
  ]
    .filter(Boolean)
    .join(', ');

/** The last replays; looked at often while one runs. */
const replaysQuery = (form: Form, webhook: string) =>
  queryOptions({
    queryKey: ['webhooks', form.id, webhook, 'replays'],
    queryFn: ({ signal }) => call(form.workspace_id, 'listReplays', { params: { id: webhook } }, { signal }),
    refetchInterval: (found) => (found.state.data?.data[0]?.state === 'running' ? 500 : 5_000),
  });

/** How many deliveries a replay would send again. */
const replayCountQuery = (form: Form, webhook: string, draft: ReplayDraft) =>
  queryOptions({
    queryKey: ['webhooks', form.id, webhook, 'replay count', draft],
    queryFn: ({ signal }) =>
      call(
        form.workspace_id,
        'countReplay',
        { params: { id: webhook }, query: replayQueryOf(draft) },
        { signal },
      ),
  });

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
  form: LocatedForm;
  webhook: Webhook;
  /** What is chosen at first. */
  draft?: Partial<ReplayDraft>;
  /** Why it opened by itself. */
  reason?: string;
  onClose: () => void;
};

/** Sends deliveries again: it says how many before, and goes on in the background. */
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
  const start = useMutation({
    mutationFn: () =>
      call(form.workspace_id, 'startReplay', { params: { id: webhook.id }, body: replayQueryOf(draft) }),
    async onSuccess({ total: begun }) {
      toastDone(`${sayCount(begun, 'delivery', 'deliveries')} will be sent again.`);
      onClose();
      await refreshWebhooks(form);
    },
  });
  const problem = start.error ?? counted.error;
  return (
    <Dialog
      title="Send deliveries again"
      description={reason ?? 'Each is sent once more as the same delivery, so a receiver knows which it has.'}
      size="medium"
      isOpen
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
            {total ? `Send ${total.toLocaleString()} again` : 'Send again'}
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
          ? 'Counting …'
          : total === 0
            ? 'No delivery matches.'
            : `${sayCount(total, 'delivery', 'deliveries')} will be sent again, the oldest first. New events go out between them.`}
      </p>
      {problem && <Message tone="bad">{problem.message}</Message>}
    </Dialog>
  );
}

/** How long the end of a replay is news. */
const newsMs = 10 * 60 * 1_000;

/** The replay of a webhook that is under way, with a way to stop it, or what the last one came to. */
export function ReplayProgress({
  form,
  webhook,
}: {
  form: LocatedForm;
  webhook: string;
}): ReactElement | null {
  const replay = useQuery(replaysQuery(form, webhook)).data?.data[0];
  const cancel = useMutation({
    mutationFn: ({ id }: Replay) => call(form.workspace_id, 'cancelReplay', { params: { id } }),
    onError: toastProblem,
    onSettled: () => refreshWebhooks(form),
  });
  if (!replay) return null;
  const words = `${replay.done.toLocaleString()} of ${replay.total.toLocaleString()}`;
  if (replay.ended_at !== null) {
    if (Date.now() - Date.parse(replay.ended_at) > newsMs) return null;
    return (
      <Message tone={replay.state === 'finished' ? 'good' : 'info'}>
        {replay.state === 'finished' ? 'A replay has sent' : 'A replay was cancelled after'} {words}{' '}
        deliveries again ({sayFilter(replay.filter, sayMoment)}), <AgoText at={replay.ended_at} />.
      </Message>
    );
  }
  return (
    <Message
      tone={replay.failed_reason === null ? 'info' : 'bad'}
      action={
        mayEdit(form.role) && (
          <Button size="small" isPending={cancel.isPending} onPress={() => cancel.mutate(replay)}>
            Cancel replay
          </Button>
        )
      }
    >
      <label className="replay-progress">
        <span>
          {replay.failed_reason ?? 'Sending again'}: {words}{' '}
          <span className="soft">· {sayFilter(replay.filter, sayMoment)}</span>
        </span>
        <progress max={replay.total} value={replay.done} />
      </label>
    </Message>
  );
}
