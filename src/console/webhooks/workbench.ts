import type { Form } from '#ast/tree.ts';
import { listQuestions } from '#ast/tree.ts';
import { requireForm } from '#forms/require-form.ts';
import { newId, now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { only } from '#kit/statement.ts';
import { deliveryBody } from '#webhooks/body.ts';
import { eventKinds } from '#webhooks/event.ts';
import { feedUrlOf } from '#webhooks/feed/endpoints.ts';
import { schemaUrlOf } from '#webhooks/payload/endpoints.ts';
import { payloadSchema } from '#webhooks/payload/payload-schema.ts';
import { typeScriptOf } from '#webhooks/payload/type-script.ts';
import { sampleSnapshot } from '#webhooks/samples/send-test.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { findWebhookTarget } from './queries.ts';
import { receiversFor } from './receivers.ts';
import { formParameter, type Payload, type ReceiverList, webhookParameters } from './shapes.ts';

type Services = Pick<ConsoleServices, 'config' | 'database' | 'links'>;

/** What somebody needs who writes a receiver: a sample of what comes, its schema and type, and programs to start from. */
export function workbenchRoutes(services: Services): readonly ConsoleRoute[] {
  const payload = consoleEndpoint({
    role: 'viewer',
    params: formParameter,
    async run({ workspaceId, params }) {
      const { id, name, structure } = await loadForm(services, workspaceId, params.form);
      const schema = payloadSchema(structure, { id: schemaUrlOf(services.config, id) });
      const snapshot = JSON.stringify(sampleSnapshot({ id, name, workspaceId }, structure));
      const common = { occurredAt: now(), deliveryId: newId(), snapshot };
      const signLink = (fileId: string): string => services.links.sign(workspaceId, fileId);
      const body: Payload = {
        schema_url: schemaUrlOf(services.config, id),
        feed_url: feedUrlOf(services.config, id),
        schema: JSON.stringify(schema, null, 2),
        type_script: typeScriptOf(schema),
        samples: eventKinds.map((event) => ({
          event,
          body: deliveryBody({ ...common, kind: event, signLink }),
        })),
      };
      return { status: 200, body };
    },
  });

  const receivers = consoleEndpoint({
    role: 'viewer',
    params: webhookParameters,
    async run({ workspaceId, params }) {
      const webhook = only(
        await findWebhookTarget(services.database, {
          workspace_id: workspaceId,
          form_id: params.form,
          id: params.webhook,
        }),
      );
      if (!webhook) throw new ApiError('not_found');
      const { structure } = await loadForm(services, workspaceId, params.form);
      const [question] = listQuestions(structure);
      const data = receiversFor({ ...webhook, field: question?.element.attrs.id });
      return { status: 200, body: { data } satisfies ReceiverList };
    },
  });

  return [
    ['GET', '/workspaces/:workspace/forms/:form/payload', payload],
    ['GET', '/workspaces/:workspace/forms/:form/webhooks/:webhook/receivers', receivers],
  ];
}

/** @throws ApiError not_found. */
async function loadForm(
  { database }: Services,
  workspaceId: string,
  formId: string,
): Promise<{ id: string; name: string; structure: Form }> {
  const found = await requireForm(database, { workspaceId, formId });
  // It was validated when it became the live version.
  return { id: found.id, name: found.name, structure: found.structure as Form };
}
