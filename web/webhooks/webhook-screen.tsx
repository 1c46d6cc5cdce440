import './webhooks.css';
import './log/deliveries.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { WebhookDetail } from '#webhooks/shapes.ts';
import { ApiProblem } from '../api/client.ts';
import { Icon } from '../design/icon.tsx';
import { Page } from '../design/page.tsx';
import { ErrorState, Loading } from '../design/states.tsx';
import { type LocatedForm, useForm } from '../shell/form-place.ts';
import { mayEdit } from '../shell/session.ts';
import { DeliveryLog } from './log/delivery-log.tsx';
import { DeliveryPanel } from './log/delivery-panel.tsx';
import { HealthPanel } from './health/health-panel.tsx';
import { type LogView, readLogView } from './log/log-view.ts';
import { PauseNotice } from './health/pause-notice.tsx';
import { ReplayProgress } from './replay.tsx';
import { SendTest } from './send-test.tsx';
import { hostOf } from '#rules/url-problem.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookFacts } from './webhook-facts.tsx';
import { webhookQuery } from './webhooks-query.ts';

/** One webhook: how it fares, its delivery log, and tests. */
export function WebhookScreen(): ReactElement {
  const form = useForm();
  const id = useParams({ strict: false }).webhook!;
  const found = useQuery(webhookQuery(form, id));
  // Somebody else may delete it while it is looked at.
  const isGone = found.error instanceof ApiProblem && found.error.status === 404;
  return (
    <>
      <nav className="webhook-crumb" aria-label="Back">
        <Link to="/forms/$form/webhooks" params={{ form: form.id }}>
          <Icon name="back" />
          All webhooks
        </Link>
      </nav>
      {found.data && !isGone ? (
        <Webhook form={form} detail={found.data} />
      ) : (
        <Page title="Webhook">
          {found.error ? (
            <ErrorState error={found.error} onRetry={() => void found.refetch()} />
          ) : (
            <Loading lines={4} />
          )}
        </Page>
      )}
    </>
  );
}

function Webhook({ form, detail }: { form: LocatedForm; detail: WebhookDetail }): ReactElement {
  const { webhook } = detail;
  const view = readLogView(useSearch({ strict: false }));
  const navigate = useNavigate();
  const show = (change: Partial<LogView>, replace = true): void =>
    void navigate({ to: '.', search: { ...view, ...change }, replace, resetScroll: false });
  return (
    <Page
      title={hostOf(webhook.url)}
      lead={webhook.url}
      actions={
        mayEdit(form.role) && (
          <>
            <SendTest form={form} webhook={webhook} onSent={(delivery) => show({ delivery }, false)} />
            <WebhookActions
              form={form}
              webhook={webhook}
              rules={detail}
              onDeleted={() => void navigate({ to: '/forms/$form/webhooks', params: { form: form.id } })}
            />
          </>
        )
      }
    >
      <PauseNotice webhook={webhook} />
      <ReplayProgress form={form} webhook={webhook.id} />
      <WebhookFacts form={form} webhook={webhook} />
      <HealthPanel form={form} webhook={webhook.id} />
      <DeliveryLog form={form} detail={detail} view={view} onShow={show} />
      {view.delivery && (
        <DeliveryPanel
          form={form}
          webhook={webhook.id}
          delivery={view.delivery}
          onClose={() => show({ delivery: undefined })}
        />
      )}
    </Page>
  );
}
