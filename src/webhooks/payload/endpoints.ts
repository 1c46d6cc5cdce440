import { effectiveForm } from '#ast/effective-form.ts';
import { Type } from 'typebox';
import { listQuestions } from '#ast/tree.ts';
import type { FileLinks } from '#files/link.ts';
import { requireForm } from '#forms/require-form.ts';
import { newId, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireReach } from '#workspaces/reach.ts';
import { deliveryBody } from '../body.ts';
import { eventKinds } from '../event.ts';
import { feedUrlOf } from '../feed/endpoints.ts';
import { reachWebhook } from '../log/reach-webhook.ts';
import { sampleSnapshot } from '../samples/send-test.ts';
import { Payload, Receiver } from '../shapes.ts';
import { payloadSchema } from './payload-schema.ts';
import { receiversFor } from './receivers.ts';
import { typeScriptOf } from './type-script.ts';

/** Where the payload schema of a form is. */
const schemaUrlOf = ({ publicUrl }: Pick<Config, 'publicUrl'>, formId: string): string =>
  `${publicUrl}/api/v1/forms/${formId}/schema.json`;

/** What a program that reads a form's submissions can be checked against. */
export function payloadEndpoints({
  database,
  config,
  links,
}: {
  database: Database;
  config: Config;
  links: Pick<FileLinks, 'sign'>;
}) {
  const loadForm = async (workspaceId: string, id: string) => {
    const found = await requireForm(database, { workspaceId, formId: id });
    // It was validated when it became the live version.
    return { id: found.id, name: found.name, structure: effectiveForm(found.structure) };
  };
  return {
    getFormSchema: operation({
      summary: 'Get payload schema',
      description:
        'The JSON Schema (2020-12) of an event of this form, as webhooks and `/events` have it; that of `answers` in the API is `#/$defs/Answers`. It describes the live version: submissions of earlier ones keep the answers of theirs.',
      permission: 'forms:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The schema.',
        schema: { type: 'object', additionalProperties: true },
      },
      async run({ workspaceId, formIds, params }) {
        requireReach(formIds, params.id);
        const { id, structure } = await loadForm(workspaceId, params.id);
        return { body: payloadSchema(structure, { id: schemaUrlOf(config, id) }) };
      },
    }),

    getPayloadSamples: operation({
      summary: 'Get payload samples',
      description:
        'For who writes a receiver: a sample of each event of this form, its JSON Schema and its TypeScript type.',
      permission: 'webhooks:read',
      params: idParameter,
      reply: { status: 200, description: 'Texts to be shown and copied.', schema: Payload },
      async run({ workspaceId, formIds, params }) {
        requireReach(formIds, params.id);
        const { id, name, structure } = await loadForm(workspaceId, params.id);
        const schema = payloadSchema(structure, { id: schemaUrlOf(config, id) });
        const snapshot = JSON.stringify(sampleSnapshot({ id, name, workspaceId }, structure));
        const common = { occurredAt: now(), deliveryId: newId(), snapshot };
        const samples = eventKinds.map((event) => ({
          event,
          body: deliveryBody({ ...common, kind: event, signLink: links.sign }),
        }));
        return {
          body: {
            schema_url: schemaUrlOf(config, id),
            feed_url: feedUrlOf(config, id),
            schema: JSON.stringify(schema, null, 2),
            type_script: typeScriptOf(schema),
            samples,
          },
        };
      },
    }),

    listReceivers: operation({
      summary: 'List receivers',
      description: 'Programs in four languages to start a receiver of this webhook from.',
      permission: 'webhooks:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The programs.',
        schema: Type.Object({ data: Type.Array(Receiver) }),
      },
      async run({ params, ...scope }) {
        const webhook = await reachWebhook(database, scope, params.id);
        const { structure } = await loadForm(scope.workspaceId, webhook.formId);
        const [question] = listQuestions(structure);
        return { body: { data: receiversFor({ ...webhook, field: question?.element.attrs.id }) } };
      },
    }),
  };
}
