import { answersSchema, fileUploadsSchema } from '#forms/payload/answers-schema.ts';
import { type JsonSchema, reference } from '#ast/json-schema.ts';
import type { Form } from '#ast/tree.ts';
import { eventKinds } from '../event.ts';

const id: JsonSchema = { type: 'string', format: 'uuid' };
const timestamp: JsonSchema = { type: 'string', format: 'date-time' };
const object = (properties: Record<string, JsonSchema>, optional: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});

const file = {
  id,
  filename: { type: 'string' },
  url: { type: 'string', format: 'uri', description: 'A signed address, good for one hour.' },
  size: { type: 'integer', minimum: 0, description: 'Bytes.' },
  content_type: { type: 'string' },
} as const satisfies Record<string, JsonSchema>;

const row = {
  type: 'integer',
  minimum: 0,
  description: 'In a repeatable group: which row, from 0.',
} as const;

/**
 * A form's payloads as one JSON Schema (2020-12). The document itself is the schema of an event, as webhooks and the
 * feed have it (specification, "Request body"); `#/$defs/Answers` is that of a submission's `answers` in the API. It
 * describes the live version: submissions of earlier versions keep the answers of theirs.
 * @param options `id`: the address of the schema.
 */
export function payloadSchema(form: Form, options: { id: string }): JsonSchema {
  const submission = object({
    id,
    submitted_at: { type: ['string', 'null'], format: 'date-time' },
    status: { enum: ['completed', 'incomplete'] },
    reference_data: { type: 'object', additionalProperties: { type: 'string' } },
    responses: reference('Responses'),
    file_uploads: reference('FileUploads'),
  });
  const event = object({
    event: { enum: eventKinds },
    timestamp,
    delivery_id: { ...id, description: 'The same in every repetition: what was seen before is skipped.' },
    form: object({ id, name: { type: 'string' }, workspace_id: id }),
    submission,
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: options.id,
    title: form.attrs.name,
    $ref: '#/$defs/Event',
    $defs: {
      Event: { description: 'The body of a webhook, and an item of the feed.', ...event },
      Responses: {
        description: 'The answers of an event by element id, without files.',
        ...answersSchema(form, { files: false }),
      },
      FileUploads: {
        description: 'The files of an event by element id.',
        ...fileUploadsSchema(form, reference('EventFile')),
      },
      EventFile: object({ ...file, row }, ['row']),
      Answers: {
        description: 'The answers of a submission as the API returns them.',
        ...answersSchema(form, { files: true }),
      },
      File: object(file),
    },
  };
}
