import './replay.css';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Replay } from '#webhooks/shapes.ts';
import { call } from '../../api/operations.ts';
import { Button } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';
import { AgoText, sayMoment } from '../../design/time.tsx';
import { toastProblem } from '../../design/toast.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { mayEdit } from '../../shell/session.ts';
import { refreshWebhooks } from '../webhooks-query.ts';
import { replaysQuery, sayFilter } from './replay-query.ts';

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
