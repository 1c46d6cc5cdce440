import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import type { WebhookDetail } from '#webhooks/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import type { LocatedForm } from '../../shell/form-place.ts';
import { mayEdit } from '../../shell/session.ts';
import { DeliveryFilters } from './delivery-filters.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { isFiltered, type LogView } from './log-view.ts';
import { ReplayDialog } from '../replay.tsx';
import { type ReplayDraft } from '../replay-query.ts';
import { deliveriesQuery } from '../webhooks-query.ts';

type Props = {
  form: LocatedForm;
  detail: WebhookDetail;
  view: LogView;
  /** Changes the address; `replace` when Back should not return to what was before. */
  onShow: (change: Partial<LogView>, replace?: boolean) => void;
};

/** The deliveries of a webhook, newest first; it looks again by itself, often while something is being retried. */
export function DeliveryLog({ form, detail, view, onShow }: Props): ReactElement {
  const { webhook, most_attempts } = detail;
  const log = useQuery(deliveriesQuery(form, webhook.id, view));
  const total = log.data?.pagination.total_count;
  const isNarrowed = isFiltered(view);
  const [isReplaying, setReplaying] = useState(false);
  return (
    <section className="delivery-log" aria-labelledby="delivery-log">
      <div className="spread">
        <h2 id="delivery-log" className="delivery-log-title">
          Delivery log
        </h2>
        {mayEdit(form.role) && webhook.active && (isNarrowed || total !== 0) && (
          <Button icon="refresh" onPress={() => setReplaying(true)}>
            Send again …
          </Button>
        )}
      </div>
      {isReplaying && (
        <ReplayDialog
          form={form}
          webhook={webhook}
          draft={draftOf(view)}
          onClose={() => setReplaying(false)}
        />
      )}
      {(isNarrowed || total !== 0) && (
        <DeliveryFilters
          view={view}
          total={total}
          onChange={(change) => onShow({ ...change, page: undefined })}
        />
      )}
      {log.isPending && <Loading lines={5} />}
      {log.error && !log.data && <ErrorState error={log.error} onRetry={() => void log.refetch()} />}
      {log.error && log.data && (
        <Message tone="warn">What you see is not up to date. {log.error.message}</Message>
      )}
      {total === 0 && isNarrowed && (
        <EmptyState icon="search" title="No delivery matches">
          <p>Try another status, event or day.</p>
        </EmptyState>
      )}
      {total === 0 && !isNarrowed && (
        <EmptyState icon="clock" title="Nothing was sent yet">
          <p>
            {webhook.active
              ? 'The next event appears here within a second. You need not wait for it: send a test.'
              : 'The webhook is paused, so events are not sent. A test is.'}
          </p>
        </EmptyState>
      )}
      {log.data && log.data.data.length > 0 && (
        <div className="stack" data-stale={log.isPlaceholderData || undefined}>
          <DeliveryTable
            deliveries={log.data.data}
            mostAttempts={most_attempts}
            onOpen={(delivery) => onShow({ delivery }, false)}
          />
          <Pager
            label="Pages of deliveries"
            pagination={log.data.pagination}
            onChange={(page) => onShow({ page })}
          />
        </div>
      )}
      {log.data && log.data.data.length === 0 && total !== 0 && (
        <EmptyState
          icon="clock"
          title="This page is empty"
          action={<Button onPress={() => onShow({ page: undefined })}>Go to the first page</Button>}
        />
      )}
    </section>
  );
}

/** A replay begins with what the log shows. */
const draftOf = ({ status, event, from, to }: LogView): Partial<ReplayDraft> => ({
  ...(status && status !== 'Retrying' && { status }),
  ...(event && { event }),
  ...(from && { from }),
  ...(to && { to }),
});
