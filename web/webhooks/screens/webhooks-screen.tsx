import '../webhooks.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactElement, type ReactNode, useState } from 'react';
import { hostOf } from '#rules/url-problem.ts';
import type { Webhook, WebhookList } from '#webhooks/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Chip, StatusChip } from '../../design/chip.tsx';
import { Page } from '../../design/page.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { type LocatedForm, useCurrentForm } from '../../shell/current-form.ts';
import { mayEdit } from '../../shell/session.ts';
import { WebhookDialog } from '../edit/webhook-dialog.tsx';
import { eventLabel } from '../events.ts';
import { FilterSentence } from '../filter/filter.tsx';
import { DayHealth, LastDelivery } from '../health/health.tsx';
import { type WebhookRules, webhooksQuery } from '../webhooks-query.ts';
import { WebhookActions } from './webhook-actions.tsx';

/** A webhook in the list: its URL, events and health. */
function WebhookCard({
  form,
  webhook,
  rules,
}: {
  form: LocatedForm;
  webhook: Webhook;
  rules: WebhookRules;
}): ReactElement {
  return (
    <li className="card webhook-card">
      <div className="webhook-identity">
        <Link
          to="/forms/$form/webhooks/$webhook"
          params={{ form: form.id, webhook: webhook.id }}
          className="webhook-link"
        >
          {hostOf(webhook.url)}
        </Link>
        <span className="webhook-address soft small cut">{webhook.url}</span>
        <div className="row">
          <StatusChip status={webhook.active ? 'active' : 'paused'} />
          {webhook.events.map((kind) => (
            <Chip key={kind}>{eventLabel(kind)}</Chip>
          ))}
          {webhook.has_secret && <Chip tone="info">Signed</Chip>}
          {webhook.paused_by === 'failure' && <Chip tone="bad">Failing for days</Chip>}
        </div>
        {webhook.filter && <FilterSentence form={form} filter={webhook.filter} />}
      </div>
      <dl className="webhook-fact">
        <dt>Last delivery</dt>
        <dd>
          <LastDelivery last={webhook.last_delivery} />
        </dd>
      </dl>
      <dl className="webhook-fact">
        <dt>Last 24 hours</dt>
        <dd>
          <DayHealth day={webhook.day} />
        </dd>
      </dl>
      {mayEdit(form.role) && (
        <div className="webhook-menu">
          <WebhookActions form={form} webhook={webhook} rules={rules} />
        </div>
      )}
    </li>
  );
}

/** Lists the webhooks of a form with their health. */
export function WebhooksScreen(): ReactElement {
  const form = useCurrentForm();
  const webhooks = useQuery(webhooksQuery(form));
  const [isAdding, setAdding] = useState(false);
  const navigate = useNavigate();
  const list = webhooks.data;
  const add = list && mayEdit(form.role) && <AddButton list={list} onPress={() => setAdding(true)} />;
  return (
    <Page
      title="Webhooks"
      lead="Sends submission events from this form to the URLs below, as they happen."
      actions={list && list.data.length > 0 && add}
    >
      <QueryState query={webhooks} lines={2}>
        {(found) => (
          <>
            {found.data.length === 0 ? (
              <NoWebhooks mostAttempts={found.most_attempts} add={add} />
            ) : (
              <ul role="list" className="webhook-list">
                {found.data.map((webhook) => (
                  <WebhookCard key={webhook.id} form={form} webhook={webhook} rules={found} />
                ))}
              </ul>
            )}
            {isAdding && (
              <WebhookDialog
                form={form}
                rules={found}
                onClose={() => setAdding(false)}
                onCreated={(webhook) =>
                  void navigate({ to: '/forms/$form/webhooks/$webhook', params: { form: form.id, webhook } })
                }
              />
            )}
          </>
        )}
      </QueryState>
    </Page>
  );
}

function AddButton({ list, onPress }: { list: WebhookList; onPress: () => void }): ReactElement {
  if (list.data.length >= list.most_webhooks)
    return <span className="soft small">A form can have at most {list.most_webhooks} webhooks.</span>;
  return (
    <Button variant="primary" icon="add" onPress={onPress}>
      Add webhook
    </Button>
  );
}

function NoWebhooks({ mostAttempts, add }: { mostAttempts: number; add: ReactNode }): ReactElement {
  return (
    <EmptyState icon="webhook" title="No webhooks yet" action={add}>
      <p>
        A webhook notifies another program immediately when a submission is received, changed or deleted. It
        sends a small JSON document over HTTPS.
      </p>
      <p>
        If the program does not respond or reports a temporary error, the delivery is retried, up to{' '}
        {mostAttempts} attempts in total. Other errors, such as “Not found”, fail immediately. The page of a
        webhook shows every attempt, and can send a test.
      </p>
    </EmptyState>
  );
}
