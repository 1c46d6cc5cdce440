import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { DeliveryDetail } from '#webhooks/shapes.ts';
import { call } from '../../api/operations.ts';
import { Button } from '../../design/button.tsx';
import { Chip, StatusChip } from '../../design/chip.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { sayMoment } from '../../design/time.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { mayEdit } from '../../shell/session.ts';
import { AttemptList } from './attempt-list.tsx';
import { MessageText } from './message-text.tsx';
import { shortEvent } from '../events.ts';
import { deliveryQuery, refreshWebhooks } from '../webhooks-query.ts';

type Props = { form: LocatedForm; webhook: string; delivery: string; onClose: () => void };

/** One delivery: what was sent, every attempt, and a way to send it again. */
export function DeliveryPanel({ form, webhook, delivery, onClose }: Props): ReactElement {
  const found = useQuery(deliveryQuery(form, webhook, delivery));
  const retry = useMutation({
    mutationFn: () => call(form.workspace_id, 'retryDelivery', { params: { id: delivery } }),
    // Also after a refusal: somebody else may have been faster.
    onSettled: () => refreshWebhooks(form),
  });
  const detail = found.data;
  const mayRetry = detail?.status === 'Failed' && !detail.is_test && mayEdit(form.role);
  return (
    <Dialog
      title="Delivery"
      size="side"
      isOpen
      onClose={onClose}
      actions={
        mayRetry && (
          <Button variant="primary" icon="refresh" onPress={() => !retry.isPending && retry.mutate()}>
            Retry now
          </Button>
        )
      }
    >
      {found.isPending && <Loading lines={4} />}
      {found.error && !detail && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {retry.error && <Message tone="bad">{retry.error.message}</Message>}
      {detail && <DeliveryContent form={form.id} detail={detail} />}
    </Dialog>
  );
}

function DeliveryContent({ form, detail }: { form: string; detail: DeliveryDetail }): ReactElement {
  return (
    <>
      <div className="row" role="status">
        <StatusChip status={detail.status} />
        {detail.is_test && <Chip tone="info">Test</Chip>}
        <span>{shortEvent(detail.event)}</span>
      </div>
      <dl className="delivery-facts">
        <dt>Began</dt>
        <dd>{sayMoment(detail.created_at)}</dd>
        <dt>Delivery</dt>
        <dd>
          <code>{detail.id}</code>
        </dd>
        <dt>Submission</dt>
        <dd>
          {detail.is_test ? (
            'A sample, made for this test'
          ) : (
            <Link to="/forms/$form/submissions" params={{ form }} search={{ open: detail.submission_id }}>
              Open the submission
            </Link>
          )}
        </dd>
      </dl>
      <AttemptList delivery={detail} />
      <MessageText label="Request body, the same in every attempt" text={detail.request_body} />
    </>
  );
}
