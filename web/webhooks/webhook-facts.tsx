import { type ReactElement, useState } from 'react';
import type { Webhook } from '#webhooks/shapes.ts';
import { Button } from '../design/button.tsx';
import { Chip, StatusChip } from '../design/chip.tsx';
import { shortEvent } from './events.ts';
import { FilterSentence } from './filter/filter-sentence.tsx';
import { DayHealth, LastDelivery } from './health/health.tsx';
import { VerifyDialog } from './edit/secret-dialog.tsx';
import { sayMoment } from '../design/time.tsx';
import type { LocatedForm } from '../shell/form-place.ts';

/** What a webhook is and how it fares, in one row. */
export function WebhookFacts({ form, webhook }: { form: LocatedForm; webhook: Webhook }): ReactElement {
  const [isVerifying, setVerifying] = useState(false);
  return (
    <>
      <dl className="card webhook-facts">
        <div className="webhook-fact">
          <dt>State</dt>
          <dd>
            <StatusChip status={webhook.active ? 'active' : 'paused'} />
          </dd>
        </div>
        <div className="webhook-fact">
          <dt>Events</dt>
          <dd>
            {webhook.events.map((kind) => (
              <Chip key={kind}>{shortEvent(kind)}</Chip>
            ))}
          </dd>
        </div>
        {!webhook.pauses_on_failure && (
          <div className="webhook-fact">
            <dt>When it fails for days</dt>
            <dd>Goes on</dd>
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
                and with the secret of before until {sayMoment(webhook.previous_secret_until)}
              </span>
            )}
          </dd>
        </div>
        {webhook.filter && (
          <div className="webhook-fact webhook-fact-wide">
            <dt>Filter</dt>
            <dd>
              <FilterSentence form={form} filter={webhook.filter} />
            </dd>
          </div>
        )}
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
