import type { ReactElement } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { Message } from '../../design/message.tsx';
import { sayAgo, sayMoment, useNow } from '../../design/time.tsx';

/** Says that nothing arrives: the webhook was paused by itself, or is on the way there. */
export function PauseNotice({ webhook }: { webhook: Webhook }): ReactElement | null {
  const { paused_by, paused_at, failing_since } = webhook;
  const now = useNow();
  if (paused_by === 'failure' && paused_at)
    return (
      <Message tone="bad" title={`Paused by itself ${sayAgo(paused_at, now)}`}>
        Every delivery failed for days{failing_since && `, since ${sayMoment(failing_since)}`}. Events that
        happen now are written down as Failed and not sent. Send a test when the receiver works again, resume
        the webhook, and then send again what failed.
      </Message>
    );
  if (paused_by === 'person' || !failing_since) return null;
  return (
    <Message tone="warn" title={`Failing since ${sayAgo(failing_since, now)}`}>
      No delivery has arrived since {sayMoment(failing_since)}. A webhook that only fails is paused after some
      days.
    </Message>
  );
}
