import type { Form } from '#ast/tree.ts';
import { requireForm } from '#forms/require-form.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireReach } from '#workspaces/reach.ts';
import { payloadSchema } from './payload-schema.ts';

/** Where the payload schema of a form is. */
export const schemaUrlOf = ({ publicUrl }: Pick<Config, 'publicUrl'>, formId: string): string =>
  `${publicUrl}/api/v1/forms/${formId}/schema.json`;

/** What a program that reads a form's submissions can be checked against. */
export function payloadEndpoints({ database, config }: { database: Database; config: Config }) {
  return {
    schema: operation({
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
        const found = await requireForm(database, { workspaceId, formId: params.id });
        // The structure was validated when it became the live version.
        const schema = payloadSchema(found.structure as Form, { id: schemaUrlOf(config, found.id) });
        return { body: schema };
      },
    }),
  };
}
