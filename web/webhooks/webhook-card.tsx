import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { Chip, StatusChip } from '../design/chip.tsx';
import type { LocatedForm } from '../shell/form-place.ts';
import { mayEdit } from '../shell/session.ts';
import { shortEvent } from './events.ts';
import { FilterSentence } from './filter/filter-sentence.tsx';
import { DayHealth, LastDelivery } from './health/health.tsx';
import { hostOf } from '#rules/url-problem.ts';
import { WebhookActions } from './webhook-actions.tsx';
import type { WebhookRules } from './webhooks-query.ts';

/** A webhook in the list: where it goes, what it tells, how it fares. */
export function WebhookCard({
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
            <Chip key={kind}>{shortEvent(kind)}</Chip>
          ))}
          {webhook.has_secret && <Chip tone="info">Signed</Chip>}
          {webhook.paused_by === 'failure' && <Chip tone="bad">Failed for days</Chip>}
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
