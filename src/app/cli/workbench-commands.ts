import type { Form } from '#ast/tree.ts';
import { testWebhook } from '#webhooks/samples/test-webhook.ts';
import { openFileLinks } from '#files/link.ts';
import { findForm } from '#forms/queries.ts';
import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { announceJobs } from '#kit/queue.ts';
import { only } from '#kit/statement.ts';
import { eventKinds } from '#webhooks/event.ts';
import { readFeed } from '#webhooks/feed/read-feed.ts';
import { schemaUrlOf } from '#webhooks/payload/endpoints.ts';
import { payloadSchema } from '#webhooks/payload/payload-schema.ts';
import { typeScriptOf } from '#webhooks/payload/type-script.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { listWorkspaces } from '#workspaces/workspaces.ts';
import { command, optional, required } from './command.ts';
import { findPlace, findWorkspace } from './find-place.ts';
import { event, id, text, UsageError, wholeNumber } from './values.ts';

/** For who writes a receiver. */
export const workbenchCommands = [
  command({
    name: 'webhook test',
    summary:
      'Sends a test to a webhook, or to another address: a sample of the form, or its last submissions (at most 10). A running server does it.',
    parameters: { id },
    options: { event: optional(event), url: optional(text('<https url>')), last: optional(wholeNumber) },
    note: 'delivery show tells how each of them fared.',
    async run({ config, database, log }, { id, event: kind = eventKinds[0], url, last }) {
      if (last !== undefined && (last < 1 || last > 10)) throw new UsageError('--last must be 1 to 10.');
      const { workspace_id: workspaceId, form_id: formId } = await findPlace(database, 'webhook', id);
      const requestCounter = await openRequestCounter({ valkeyUrl: config.valkeyUrl, log });
      try {
        const ids = await testWebhook(
          { config, database, requestCounter, wakeQueue: () => {} },
          { workspaceId, formId, webhookId: id, kind, url, submissions: last },
        );
        await announceJobs(database, { sender: '' });
        return { data: ids.map((id) => ({ id })) };
      } finally {
        await requestCounter.close();
      }
    },
  }),
  command({
    name: 'event list',
    summary:
      'Reads the feed of a workspace, oldest first, and prints where to go on (--after). The first time switches it on.',
    options: { workspace: required(id), after: optional(wholeNumber), limit: optional(wholeNumber) },
    async run({ config, database, vault }, { workspace, after, limit = 50 }) {
      if (limit < 1 || limit > 1_000) throw new UsageError('--limit must be 1 to 1000.');
      const known = (await listWorkspaces(database)).some(({ id }) => id === workspace);
      if (!known) throw new ApiError('not_found', 'There is no such workspace.');
      const links = openFileLinks({ vault, publicUrl: config.publicUrl, now });
      const question = { workspaceId: workspace, after, limit, formIds: null };
      const page = await readFeed({ database, links }, question);
      const data = page.bodies.map((body) => JSON.parse(body) as object);
      return { data, next: String(page.next), has_more: page.hasMore };
    },
  }),
  command({
    name: 'webhook schema',
    summary: "Prints the JSON Schema of a form's payload, and with it the TypeScript type.",
    options: { form: required(id) },
    async run({ config, database }, { form }) {
      const workspaceId = await findWorkspace(database, 'form', form);
      const found = only(await findForm(database, { workspace_id: workspaceId, id: form }));
      if (!found) throw new ApiError('not_found', `There is no form ${form}.`);
      const schema = payloadSchema(found.structure as Form, { id: schemaUrlOf(config, form) });
      return { schema, type_script: typeScriptOf(schema) };
    },
  }),
];
