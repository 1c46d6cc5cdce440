import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import { type JsonSchema, type JsonType, reference } from '#ast/basics/json-schema.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import { type Form, listQuestions } from '#ast/form/tree.ts';
import type { FileLinks } from '#files/stored-files.ts';
import { requireForm } from '#forms/form-rows.ts';
import { answersSchema, fileUploadsSchema } from '#forms/payload.ts';
import { newId, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { type EventKind, eventKinds } from './event.ts';
import { feedUrlOf } from './feed-endpoints.ts';
import { reachWebhook } from './log.ts';
import { sampleSnapshot } from './samples.ts';
import { Payload, Receiver } from './shapes.ts';
import { deliveryBody } from './signature.ts';

/**
 * The TypeScript types of a payload schema: one for each of its `$defs`, named after the form (`ContactEvent`).
 * @param schema as payloadSchema writes it.
 */
export function typeScriptOf(schema: JsonSchema): string {
  const prefix = typeName(schema.title ?? '');
  const types = Object.entries(schema.$defs ?? {}).map(
    ([name, definition]) =>
      `${comment(definition.description, '')}export type ${prefix}${name} = ${typeOf(definition, prefix, '')};\n`,
  );
  return `// Made from ${schema.$id ?? 'its JSON Schema'}\n\n${types.join('\n')}`;
}

/** The form's name as the beginning of a type's name; what is no ASCII letter or digit is left out. */
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
 * The TypeScript type of a schema.
 * @param prefix stands before the names that it refers to.
 * @param indent of the line on which it begins.
 */
export function typeOf(schema: JsonSchema, prefix: string, indent: string): string {
  const { $ref, const: only, enum: words, type } = schema;
  const alternatives = schema.anyOf ?? schema.oneOf;
  if ($ref !== undefined) return prefix + $ref.slice($ref.lastIndexOf('/') + 1);
  if (only !== undefined) return JSON.stringify(only);
  if (words) return words.map((word) => JSON.stringify(word)).join(' | ');
  // Beside options, a plain `string` would swallow them, and with them what an editor suggests.
  if (alternatives) {
    const text = alternatives.some((each) => each.enum ?? each.oneOf) ? '(string & {})' : 'string';
    return alternatives
      .map((each) => (each.type === 'string' && !each.enum ? text : typeOf(each, prefix, indent)))
      .join(' | ');
  }
  const structured = structuredType(schema, prefix, indent);
  const types = [type ?? 'object'].flat();
  if (structured !== undefined) return types.includes('null') ? `${structured} | null` : structured;
  return types.map((each) => plain[each]).join(' | ');
}

/** The type of a schema that says what its parts are. */
function structuredType(schema: JsonSchema, prefix: string, indent: string): string | undefined {
  const { items, properties, additionalProperties } = schema;
  if (items) return `Array<${typeOf(items, prefix, indent)}>`;
  const isOpen = typeof additionalProperties === 'object';
  if (properties && (Object.keys(properties).length > 0 || additionalProperties !== true))
    return objectType(schema, prefix, indent);
  return isOpen ? `Record<string, ${typeOf(additionalProperties, prefix, indent)}>` : undefined;
}

function objectType({ properties = {}, required = [] }: JsonSchema, prefix: string, indent: string): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const mark = required.includes(name) ? '' : '?';
    const note = [schema.title, schema.description].filter(Boolean).join('. ');
    return `${comment(note, inner)}${inner}${key}${mark}: ${typeOf(schema, prefix, inner)};\n`;
  });
  return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}${indent}}`;
}

/** A label is anybody's text: it must not end the comment. */
export const comment = (text: string | undefined, indent: string): string =>
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

/** Receivers of webhooks that a person can start from: the very files that test/examples.test.ts runs. */
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

/** What stands in the examples for the webhook's own. */
const blanks = {
  address: 'https://example.com/hooks/formloom',
  events: /(["'])submission\.created\1, \1submission\.updated\1, \1submission\.deleted\1/,
  field: /(["'])subject\1/,
} as const;

/**
 * The examples with the address and events of a webhook and a field of its form in them.
 * @param webhook `field`: the id of an element, which has only letters, digits, `-` and `_`.
 */
export const receiversFor = (webhook: {
  url: string;
  events: readonly EventKind[];
  field: string | undefined;
}): Receiver[] =>
  sources.map(({ code, ...example }) => ({
    ...example,
    code: code
      // Written out as a URL it has no line end and nothing that ends PHP: it stands in a comment.
      .replace(blanks.address, () => new URL(webhook.url).href)
      .replace(blanks.events, (_, quote: string) =>
        webhook.events.map((event) => quote + event + quote).join(', '),
      )
      .replace(blanks.field, (_, quote: string) => quote + (webhook.field ?? 'subject') + quote),
  }));

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
