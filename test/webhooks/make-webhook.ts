import type { Condition } from '#ast/basics/condition.ts';
import type { FieldDescription } from '#ast/form/describe.ts';
import { createForm } from '#forms/forms.ts';
import { newId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { listDeliveries } from '#webhooks/delivery-log.ts';
import { type EventKind, eventKinds, snapshotOf } from '#webhooks/event.ts';
import { recordEvent } from '#webhooks/record-event.ts';
import type { DeliveryLine } from '#webhooks/shapes.ts';
import { insertWebhook } from '#webhooks/webhooks.ts';
import type { Plan } from '#workspaces/authenticate.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';

// Helpers for webhook tests. Only tests import this file.

const structure = {
  type: 'form',
  attrs: { name: 'Contact' },
  children: [
    {
      type: 'step',
      attrs: {},
      children: [{ type: 'text', attrs: { id: 'name', label: 'Name' }, children: [] }],
    },
  ],
};

export type Place = { workspaceId: string; formId: string };

/** Creates a workspace with a published form. */
export async function makeForm(database: Database, plan: Plan = 'pro'): Promise<Place> {
  const workspace = await createWorkspace(database, { name: 'Condition', plan });
  const form = await createForm(database, workspace.id, { structure, status: 'published' });
  return { workspaceId: workspace.id, formId: form.id };
}

/** Creates a webhook without the checks of createWebhook. */
export async function makeWebhook(
  database: Database,
  { workspaceId, formId }: { workspaceId: string; formId: string | null },
  {
    url,
    events = eventKinds,
    secret = null,
    filter = null,
    pausesOnFailure = true,
  }: {
    url: string;
    events?: readonly EventKind[];
    secret?: Buffer | null;
    filter?: Condition | null;
    pausesOnFailure?: boolean;
  },
): Promise<string> {
  const id = newId();
  const values = {
    workspace_id: workspaceId,
    id,
    form_id: formId,
    url,
    events: [...events],
    active: true,
    secret,
    headers: null,
    header_names: [],
    filter,
    format: 'standard' as const,
    template: null,
    pauses_on_failure: pausesOnFailure,
  };
  await insertWebhook(database, { ...values, created_at: new Date('2026-01-01T00:00:00Z') });
  return id;
}

/** Records an event of a submission and returns the number of its deliveries. */
export function happen(
  database: Database,
  { workspaceId, formId }: Place,
  {
    kind = 'submission.created',
    answers = { name: 'Ada' },
    fields = { name: { label: 'Name', type: 'text', required: false } },
  }: {
    kind?: EventKind;
    answers?: Record<string, string>;
    fields?: Record<string, FieldDescription>;
  } = {},
): Promise<number> {
  const id = newId();
  const occurredAt = new Date('2026-01-02T03:04:05.678Z');
  return transaction(database, (client) =>
    recordEvent(client, {
      workspaceId,
      formId,
      submissionId: id,
      kind,
      occurredAt,
      fields,
      snapshot: snapshotOf({
        form: { id: formId, name: 'Contact', workspaceId },
        submission: { id, submittedAt: occurredAt, status: 'completed', reference: { utm: 'mail' }, answers },
        fields,
      }),
    }),
  );
}

/** Returns the whole delivery log of a webhook, newest first. */
export async function readLog(
  database: Database,
  place: { workspaceId: string; webhookId: string },
): Promise<DeliveryLine[]> {
  const all = { page: 1, perPage: 1_000, limit: 1_000, offset: 0, after: null, total: 0, mark: null };
  return (await listDeliveries(database, place, {}, all)).data;
}

/** Returns the stored webhooks of a form, newest first, without sealed values. */
export async function listWebhooks(database: Database, { workspaceId, formId }: Place) {
  const { rows } = await database.query(
    `select id, url, events, active, secret is not null as has_secret, header_names, filter, pauses_on_failure,
            failing_since, paused_by, created_at
       from webhooks where workspace_id = $1 and form_id = $2 order by id desc`,
    [workspaceId, formId],
  );
  return rows;
}
