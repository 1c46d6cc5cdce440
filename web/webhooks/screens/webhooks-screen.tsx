import '../webhooks.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactElement, type ReactNode, useState } from 'react';
import { hostOf } from '#rules/url-problem.ts';
import type { Webhook, WebhookList } from '#webhooks/shapes.ts';
import { Button } from '../../design/button.tsx';
import { Chip, StatusChip } from '../../design/chip.tsx';
import { Page } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, QueryState } from '../../design/states.tsx';
import { mayEdit, useCurrentForm } from '../../shell/session.ts';
import { WebhookDialog } from '../edit/webhook-dialog.tsx';
import { eventLabel, formatLabel } from '../events.ts';
import { FilterSentence } from '../filter/filter.tsx';
import { DayHealth, LastDelivery } from '../health/health.tsx';
import {
  useWorkspaceOwner,
  type WebhookOwner,
  type WebhookRules,
  webhookAddress,
  webhooksQuery,
  workspaceWebhooksQuery,
} from '../webhooks-query.ts';
import { WebhookActions } from './webhook-actions.tsx';

/** A webhook in the list: its URL, events and health. */
function WebhookCard({
  form,
  webhook,
  rules,
  scope,
}: {
  form: WebhookOwner;
  webhook: Webhook;
  rules: WebhookRules;
  /** The name of the form, or that it is for all forms. */
  scope?: string;
}): ReactElement {
  return (
    <li className="card webhook-card">
      <div className="webhook-identity">
        <Link {...webhookAddress(form, webhook.id)} className="webhook-link">
          {hostOf(webhook.url)}
        </Link>
        <span className="webhook-address soft small cut">{webhook.url}</span>
        <div className="row">
          <StatusChip status={webhook.active ? 'active' : 'paused'} />
          {scope && <Chip>{scope}</Chip>}
          {webhook.format !== 'standard' && <Chip>{formatLabel(webhook.format)}</Chip>}
          {webhook.events.map((kind) => (
            <Chip key={kind}>{eventLabel(kind)}</Chip>
          ))}
          {webhook.has_secret && <Chip tone="info">Signed</Chip>}
          {webhook.paused_by === 'failure' && <Chip tone="bad">Failing for days</Chip>}
        </div>
        {webhook.filter && form.id !== null && (
          <FilterSentence form={{ ...form, id: form.id }} filter={webhook.filter} />
        )}
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
  const list = webhooks.data;
  const isFull = list !== undefined && list.data.length >= list.most_webhooks;
  const add =
    list &&
    mayEdit(form.role) &&
    (isFull ? <Full list={list} /> : <AddButton onPress={() => setAdding(true)} />);
  return (
    <Page
      title="Webhooks"
      lead={
        <>
          Sends submission events from this form to the URLs below, as they happen. Webhooks for all forms are
          in the{' '}
          <Link to="/w/$workspace/settings/webhooks" params={{ workspace: form.workspace_id }}>
            workspace settings
          </Link>
          .
        </>
      }
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
            {isAdding && <AddDialog form={form} rules={found} onClose={() => setAdding(false)} />}
          </>
        )}
      </QueryState>
    </Page>
  );
}

/** Lists all webhooks of a workspace, and adds those for all forms. */
export function WorkspaceWebhooksScreen(): ReactElement {
  const place = useWorkspaceOwner();
  const [page, setPage] = useState(1);
  const webhooks = useQuery(workspaceWebhooksQuery(place.workspace_id, page));
  const [isAdding, setAdding] = useState(false);
  const list = webhooks.data;
  const add = list && mayEdit(place.role) && <AddButton onPress={() => setAdding(true)} />;
  return (
    <Page
      title="Webhooks"
      lead="All webhooks of this workspace. A webhook that you add here receives the events of all forms, including new ones."
      actions={list && list.pagination.total_count > 0 && add}
    >
      <QueryState query={webhooks} lines={2}>
        {(found) => (
          <>
            {found.pagination.total_count === 0 ? (
              <NoWebhooks mostAttempts={found.most_attempts} add={add} />
            ) : (
              <ul role="list" className="webhook-list">
                {found.data.map((webhook) => (
                  <WebhookCard
                    key={webhook.id}
                    form={{ ...place, id: webhook.form_id }}
                    webhook={webhook}
                    rules={found}
                    scope={webhook.form_name ?? 'All forms'}
                  />
                ))}
              </ul>
            )}
            <Pager label="Pages of webhooks" pagination={found.pagination} page={page} onChange={setPage} />
            {isAdding && <AddDialog form={place} rules={found} onClose={() => setAdding(false)} />}
          </>
        )}
      </QueryState>
    </Page>
  );
}

type AddProps = { form: WebhookOwner; rules: WebhookRules; onClose: () => void };

function AddDialog({ form, rules, onClose }: AddProps): ReactElement {
  const navigate = useNavigate();
  const open = (webhook: string): void => void navigate(webhookAddress(form, webhook));
  return <WebhookDialog form={form} rules={rules} onClose={onClose} onCreated={open} />;
}

const Full = ({ list }: { list: WebhookList }): ReactElement => (
  <span className="soft small">A form can have at most {list.most_webhooks} webhooks.</span>
);

const AddButton = ({ onPress }: { onPress: () => void }): ReactElement => (
  <Button variant="primary" icon="add" onPress={onPress}>
    Add webhook
  </Button>
);

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
