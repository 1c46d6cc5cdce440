import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import { type JsonSchema, type JsonType, schemaReference } from '#ast/basics/json-schema.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import { type Form, listQuestions } from '#ast/form/tree.ts';
import type { FileLinks } from '#files/stored-files.ts';
import { requireForm } from '#forms/form-rows.ts';
import { answersSchema, fileUploadsSchema } from '#forms/payload.ts';
import { newId, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { type EventKind, eventKinds } from './event.ts';
import { feedUrlOf } from './feed-endpoints.ts';
import { requireWebhook } from './read-webhooks.ts';
import { sampleSnapshot } from './samples.ts';
import { ExampleReceiver, PayloadDescription } from './shapes.ts';
import { formatDeliveryBody } from './signature.ts';

/**
 * Returns the TypeScript types of a payload schema: one for each of its `$defs`, named after the form
 * (`ContactEvent`).
 * @param schema the schema that payloadSchema returned.
 */
export function formatTypeScriptTypes(schema: JsonSchema): string {
  const prefix = typeName(schema.title ?? '');
  const types = Object.entries(schema.$defs ?? {}).map(
    ([name, definition]) =>
      `${formatDocComment(definition.description, '')}export type ${prefix}${name} = ${formatTypeScriptType(definition, prefix, '')};\n`,
  );
  return `// Generated from ${schema.$id ?? 'its JSON Schema'}\n\n${types.join('\n')}`;
}

/**
 * Returns the form's name as the beginning of a type name. Characters other than ASCII letters and digits are
 * omitted.
 */
function typeName(name: string): string {
  const words =
    name
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .match(/[A-Za-z0-9]+/g) ?? [];
  const joined = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  return /^[A-Z]/.test(joined) ? joined.slice(0, 40) : `Form${joined.slice(0, 36)}`;
}

const plain: Readonly<Record<JsonType, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
  array: 'unknown[]',
  object: 'Record<string, unknown>',
};

/**
 * Returns the TypeScript type of a schema.
 * @param prefix the prefix of the type names that the schema refers to.
 * @param indent the indentation of the line on which the type begins.
 */
export function formatTypeScriptType(schema: JsonSchema, prefix: string, indent: string): string {
  const { $ref, const: only, enum: words, type } = schema;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if ($ref !== undefined) return prefix + $ref.slice($ref.lastIndexOf('/') + 1);
  if (only !== undefined) return JSON.stringify(only);
  if (words) return words.map((word) => JSON.stringify(word)).join(' | ');
  // In a union with options, a plain `string` would hide them, and editors would not suggest them.
  if (alternatives) {
    const text = alternatives.some((each) => each.enum ?? each.oneOf) ? '(string & {})' : 'string';
    return alternatives
      .map((each) =>
        each.type === 'string' && !each.enum ? text : formatTypeScriptType(each, prefix, indent),
      )
      .join(' | ');
  }
  const structured = structuredType(schema, prefix, indent);
  const types = [type ?? 'object'].flat();
  if (structured !== undefined) return types.includes('null') ? `${structured} | null` : structured;
  return types.map((each) => plain[each]).join(' | ');
}

/** Returns the type of a schema that describes the parts of a value. */
function structuredType(schema: JsonSchema, prefix: string, indent: string): string | undefined {
  const { items, properties, additionalProperties } = schema;
  if (items) return `Array<${formatTypeScriptType(items, prefix, indent)}>`;
  const isOpen = typeof additionalProperties === 'object';
  if (properties && (Object.keys(properties).length > 0 || additionalProperties !== true))
    return objectType(schema, prefix, indent);
  return isOpen ? `Record<string, ${formatTypeScriptType(additionalProperties, prefix, indent)}>` : undefined;
}

function objectType({ properties = {}, required = [] }: JsonSchema, prefix: string, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const mark = required.includes(name) ? '' : '?';
    const note = [schema.title, schema.description].filter(Boolean).join('. ');
    return `${formatDocComment(note, inner)}${inner}${key}${mark}: ${formatTypeScriptType(schema, prefix, inner)};\n`;
  });
  return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}${indent}}`;
}

/** Formats a label as a comment. A label can be any text, so it must not be able to end the comment. */
export const formatDocComment = (text: string | undefined, indent: string): string =>
  text ? `${indent}/** ${text.replaceAll(/\s+/g, ' ').replaceAll('*/', '*\\/')} */\n` : '';

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
  url: { type: 'string', format: 'uri', description: 'A signed URL that is valid for one hour.' },
  size: { type: 'integer', minimum: 0, description: 'Size in bytes.' },
  content_type: { type: 'string' },
} as const satisfies Record<string, JsonSchema>;

const row = {
  type: 'integer',
  minimum: 0,
  description: 'The zero-based number of the row in a repeatable group.',
} as const;

/**
 * Returns a form's payloads as one JSON Schema (2020-12). The document itself is the schema of an event in
 * webhooks and the event feed (specification, "Request body"). `#/$defs/Answers` is the schema of a
 * submission's `answers` in the API. Both describe the live version: submissions of earlier versions keep
 * their answers.
 * @param options `id`: the URL of the schema.
 */
export function payloadSchema(form: Form, options: { id: string }): JsonSchema {
  const text = { type: 'string' } as const;
  const submission = object(
    {
      id,
      submitted_at: { type: ['string', 'null'], format: 'date-time' },
      status: { enum: ['completed', 'incomplete', 'waiting'] },
      reference_data: { type: 'object', additionalProperties: text },
      metadata: object({ respondent: object({ email: text, name: text, subject: text }) }),
      responses: schemaReference('Responses'),
      file_uploads: schemaReference('FileUploads'),
    },
    ['metadata'],
  );
  const event = object({
    event: { enum: eventKinds },
    timestamp,
    delivery_id: {
      ...id,
      description: 'Identical in every attempt. Skip ids that you have already processed.',
    },
    form: object({ id, name: { type: 'string' }, workspace_id: id }),
    submission,
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: options.id,
    title: form.attrs.name,
    $ref: '#/$defs/Event',
    $defs: {
      Event: { description: 'The body of a webhook request, and an item of the event feed.', ...event },
      Responses: {
        description: 'The answers of an event by element id, without files.',
        ...answersSchema(form, { files: false }),
      },
      FileUploads: {
        description: 'The files of an event by element id.',
        ...fileUploadsSchema(form, schemaReference('EventFile')),
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

/** Example programs that receive webhooks, from the files that test/examples.test.ts runs. */
const examples = [
  { id: 'node', label: 'Node', file: 'receiver.mjs' },
  { id: 'python', label: 'Python', file: 'receiver.py' },
  { id: 'php', label: 'PHP', file: 'receiver.php' },
  { id: 'go', label: 'Go', file: 'receiver.go' },
] as const;

const read = (path: string): string =>
  readFileSync(new URL(`../../examples/${path}`, import.meta.url), 'utf8');
/** Read once, when the server starts: 16 KB. */
const sources = examples.map((example) => ({ ...example, code: read(`${example.id}/${example.file}`) }));

/** Placeholders in the examples, which the values of a webhook replace. */
const blanks = {
  address: 'https://example.com/hooks/formloom',
  events: /(["'])submission\.created\1, \1submission\.updated\1, \1submission\.deleted\1/,
  field: /(["'])subject\1/,
} as const;

/**
 * Returns the examples with the URL and events of a webhook and a field of its form.
 * @param webhook `field`: the id of an element, which has only letters, digits, `-` and `_`.
 */
export const listExampleReceivers = (webhook: {
  url: string;
  events: readonly EventKind[];
  field: string | undefined;
}): ExampleReceiver[] =>
  sources.map(({ code, ...example }) => ({
    ...example,
    code: code
      // The URL is put into a comment. A normalized URL has no line break and nothing that ends PHP code.
      .replace(blanks.address, () => new URL(webhook.url).href)
      .replace(blanks.events, (_, quote: string) =>
        webhook.events.map((event) => quote + event + quote).join(', '),
      )
      .replace(blanks.field, (_, quote: string) => quote + (webhook.field ?? 'subject') + quote),
  }));

const schemaUrlOf = ({ publicUrl }: Pick<Config, 'publicUrl'>, formId: string): string =>
  `${publicUrl}/api/v1/forms/${formId}/schema.json`;

/** Operations that describe a form's payloads, for programs that read its submissions. */
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
    // The structure was validated when it was published.
    return { id: found.id, name: found.name, structure: effectiveForm(found.structure) };
  };
  return {
    getFormSchema: operation({
      summary: 'Get payload schema',
      description:
        'Returns the JSON Schema (2020-12) of an event of this form in webhooks and `/events`. `#/$defs/Answers` is the schema of `answers` in the API. The schema describes the live version: submissions of earlier versions keep their answers.',
      permission: 'forms:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The schema.',
        schema: { type: 'object', additionalProperties: true },
      },
      async run({ workspaceId, params }) {
        const { id, structure } = await loadForm(workspaceId, params.id);
        return { body: payloadSchema(structure, { id: schemaUrlOf(config, id) }) };
      },
    }),

    getPayloadSamples: operation({
      summary: 'Get payload samples',
      description:
        'Returns a sample of each event of this form, with its JSON Schema and TypeScript type, for developers who write webhook receivers.',
      permission: 'webhooks:read',
      params: idParameter,
      reply: { status: 200, description: 'Text to show and copy.', schema: PayloadDescription },
      async run({ workspaceId, params }) {
        const { id, name, structure } = await loadForm(workspaceId, params.id);
        const schema = payloadSchema(structure, { id: schemaUrlOf(config, id) });
        const snapshot = JSON.stringify(sampleSnapshot({ id, name, workspaceId }, structure));
        const common = { occurredAt: now(), deliveryId: newId(), snapshot };
        const samples = eventKinds.map((event) => ({
          event,
          body: formatDeliveryBody({ ...common, kind: event, signLink: links.sign }),
        }));
        return {
          body: {
            schema_url: schemaUrlOf(config, id),
            feed_url: feedUrlOf(config, id),
            schema: JSON.stringify(schema, null, 2),
            type_script: formatTypeScriptTypes(schema),
            samples,
          },
        };
      },
    }),

    listReceivers: operation({
      summary: 'List receivers',
      description: 'Returns example receivers for this webhook in four languages.',
      permission: 'webhooks:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The example programs.',
        schema: Type.Object({ data: Type.Array(ExampleReceiver) }),
      },
      async run({ params, ...scope }) {
        const webhook = await requireWebhook(database, scope, params.id);
        const form = webhook.formId === null ? undefined : await loadForm(scope.workspaceId, webhook.formId);
        const [question] = form ? listQuestions(form.structure) : [];
        return { body: { data: listExampleReceivers({ ...webhook, field: question?.element.attrs.id }) } };
      },
    }),
  };
}
