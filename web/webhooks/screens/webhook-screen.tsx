import '../webhooks.css';
import '../log/deliveries.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { hostOf } from '#rules/url-problem.ts';
import type { Webhook, WebhookDetail } from '#webhooks/shapes.ts';
import { ApiProblem } from '../../api/client.ts';
import { Button } from '../../design/button.tsx';
import { Chip, StatusChip } from '../../design/chip.tsx';
import { CopyText } from '../../design/copy-button.tsx';
import { Icon } from '../../design/icon.tsx';
import { Page } from '../../design/page.tsx';
import { ErrorState, Loading } from '../../design/states.tsx';
import { formatDateTime } from '../../design/time.tsx';
import { mayEdit, useCurrentForm } from '../../shell/session.ts';
import { VerifyDialog } from '../edit/secret.tsx';
import { eventLabel, formatLabel } from '../events.ts';
import { FilterSentence } from '../filter/filter.tsx';
import { DayHealth, HealthPanel, LastDelivery, PauseNotice } from '../health/health.tsx';
import { DeliveryLog } from '../log/delivery-log.tsx';
import { DeliveryPanel } from '../log/delivery-panel.tsx';
import { type LogView, readLogView } from '../log-view.ts';
import { ReplayProgress } from '../replay.tsx';
import { useWorkspaceOwner, type WebhookOwner, webhookQuery, webhooksAddress } from '../webhooks-query.ts';
import { SendTest, WebhookActions } from './webhook-actions.tsx';

/** The details of a webhook and its health, in a single row. */
function WebhookFacts({ form, webhook }: { form: WebhookOwner; webhook: Webhook }): ReactElement {
  const [isVerifying, setVerifying] = useState(false);
  return (
    <>
      <dl className="card webhook-facts">
        <div className="webhook-fact">
          <dt>Status</dt>
          <dd>
            <StatusChip status={webhook.active ? 'active' : 'paused'} />
          </dd>
        </div>
        <div className="webhook-fact">
          <dt>Events</dt>
          <dd>
            {webhook.events.map((kind) => (
              <Chip key={kind}>{eventLabel(kind)}</Chip>
            ))}
          </dd>
        </div>
        {!webhook.pauses_on_failure && (
          <div className="webhook-fact">
            <dt>After days of failures</dt>
            <dd>Keeps retrying</dd>
          </div>
        )}
        <div className="webhook-fact">
          <dt>Last delivery</dt>
          <dd>
            <LastDelivery last={webhook.last_delivery} />
          </dd>
        </div>
        <div className="webhook-fact">
          <dt>Last 24 hours</dt>
          <dd>
            <DayHealth day={webhook.day} />
          </dd>
        </div>
        <div className="webhook-fact">
          <dt>Signature</dt>
          <dd>
            {webhook.has_secret ? 'Signed' : <span className="soft">Not signed</span>}
            {webhook.has_secret && (
              <Button size="small" variant="quiet" onPress={() => setVerifying(true)}>
                How to verify
              </Button>
            )}
            {webhook.previous_secret_until && (
              <span className="soft small">
                and with the previous secret until {formatDateTime(webhook.previous_secret_until)}
              </span>
            )}
          </dd>
        </div>
        <div className="webhook-fact">
          <dt>Format</dt>
          <dd>{formatLabel(webhook.format)}</dd>
        </div>
        {webhook.filter && form.id !== null && (
          <div className="webhook-fact webhook-fact-wide">
            <dt>Filter</dt>
            <dd>
              <FilterSentence form={{ ...form, id: form.id }} filter={webhook.filter} />
            </dd>
          </div>
        )}
        <div className="webhook-fact webhook-fact-wide">
          <dt>Webhook ID</dt>
          <dd>
            <CopyText label="webhook ID" text={webhook.id} />
          </dd>
        </div>
        {webhook.header_names.length > 0 && (
          <div className="webhook-fact webhook-fact-wide">
            <dt>Headers</dt>
            <dd>
              {webhook.header_names.map((name) => (
                <code key={name} className="small">
                  {name}
                </code>
              ))}
            </dd>
          </div>
        )}
      </dl>
      <VerifyDialog
        form={form}
        webhook={webhook.id}
        isOpen={isVerifying}
        onClose={() => setVerifying(false)}
      />
    </>
  );
}

/** Shows one webhook of a form: its health, delivery log and tests. */
export const WebhookScreen = (): ReactElement => <WebhookOf form={useCurrentForm()} />;

/** Shows one webhook of the workspace. */
export const WorkspaceWebhookScreen = (): ReactElement => <WebhookOf form={useWorkspaceOwner()} />;

function WebhookOf({ form }: { form: WebhookOwner }): ReactElement {
  const id = useParams({ strict: false }).webhook!;
  const found = useQuery(webhookQuery(form, id));
  // Another person may have deleted the webhook.
  const isGone = found.error instanceof ApiProblem && found.error.status === 404;
  return (
    <>
      <nav className="webhook-crumb" aria-label="Back">
        <Link {...webhooksAddress(form)}>
          <Icon name="back" />
          All webhooks
        </Link>
      </nav>
      {found.data && !isGone ? (
        // A link of a submission can open a webhook of the workspace below its form.
        <OneWebhook form={{ ...form, id: found.data.webhook.form_id }} detail={found.data} />
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

function OneWebhook({ form, detail }: { form: WebhookOwner; detail: WebhookDetail }): ReactElement {
  const { webhook } = detail;
  const view = readLogView(useSearch({ strict: false }));
  const navigate = useNavigate();
  const show = (change: Partial<LogView>, replace = true): void =>
    void navigate({ to: '.', search: { ...view, ...change }, replace, resetScroll: false });
  return (
    <Page
      title={hostOf(webhook.url)}
      lead={<CopyText label="webhook URL" text={webhook.url} />}
      actions={
        mayEdit(form.role) && (
          <>
            <SendTest form={form} webhook={webhook} onSent={(delivery) => show({ delivery }, false)} />
            <WebhookActions
              form={form}
              webhook={webhook}
              rules={detail}
              onDeleted={() => void navigate(webhooksAddress(form))}
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
        <DeliveryPanel form={form} delivery={view.delivery} onClose={() => show({ delivery: undefined })} />
      )}
    </Page>
  );
}
