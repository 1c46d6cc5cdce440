import { createHash } from 'node:crypto';
import { exampleStructure } from '#forms/shapes.ts';

type Schema = Readonly<Record<string, unknown>>;

/** What stands for the parts of the form language, and for what others than we choose the names of. */
const ofComponents: Readonly<Record<string, unknown>> = {
  Structure: exampleStructure,
  Settings: { access: 'public' },
  Answers: { message: 'Do you open on Sundays?' },
  SettingsChange: { access: 'public' },
  Condition: { element: 'message', is: 'answered' },
};

/** What people call things, by the name of the property. */
const words: Readonly<Record<string, string>> = {
  name: 'Contact',
  form_name: 'Contact',
  title: 'Your message',
  label: 'Message',
  description: 'How may we help?',
  text: 'Do you open on Sundays?',
  email: 'ada@example.org',
  to: 'ada@example.org',
  recipient: 'ada@example.org',
  type: 'textarea',
  filename: 'plan.pdf',
  content_type: 'application/pdf',
  tag: 'urgent',
  operation: 'updateForm',
  method: 'PUT',
  path: '/forms/{id}',
  etag: '"mk2x4v1c"',
  message: 'Message: an answer is required.',
  id: 'message',
  rule: 'label_missing',
  permission: 'forms:read',
  webhook: 'submission.created',
  subject: 'You are invited: Contact',
  reminder_subject: 'A reminder: Contact',
  reminder_message: 'Hello Ada, the form is open until Friday.',
  heading: 'Contact',
  reason: 'You were invited to fill in this form.',
  time_zone: 'Europe/Berlin',
  day: '2026-01-31',
  group: 'Your message',
  prefix: 'fl_Xk3vQ9',
  key: 'fl_Xk3vQ9…',
  secret: 'whsec_…',
  last_used_address: '192.0.2.7',
  kind: 'text',
  result: '250 OK',
  file: 'receiver.ts',
  code: '// receiver.ts',
  type_script: 'export type Submission = { … };',
  body: '{"event":"submission.created", …}',
  request_body: '{"event":"submission.created", …}',
  response_body: 'ok',
  body_sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  next: '*',
  event: 'submission.created',
  hit: 'Sundays',
  sample: 'Ada',
};

const numbers: Readonly<Record<string, number>> = {
  per_page: 25,
  size: 48_213,
  response_status: 200,
  response_ms: 84,
};

/** What is null while all is well. */
const mayBeNone =
  /error$|^(expires_at|revoked_at|paused_at|paused_by|failing_since|next_attempt_at|trashed_at)$/;
const isNullable = (choices: readonly unknown[]): boolean =>
  choices.some((choice) => (choice as Schema)['type'] === 'null');

const key = 'message';
const uuidOf = (name: string): string =>
  `0199a3c0-5b1e-7c44-9d2f-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;

/**
 * An answer as this schema describes it: the same each time, with what is always there. A text, a number or an id is one
 * that such a property may have.
 */
export const exampleOf = (schema: object): unknown => exampleAs(schema as Schema, 'id');

function exampleAs(schema: Schema, name: string): unknown {
  const component = schema['x-component'];
  if (typeof component === 'string' && Object.hasOwn(ofComponents, component)) return ofComponents[component];
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices))
    return mayBeNone.test(name) && isNullable(choices) ? null : exampleAs(choices[0] as Schema, name);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[])[0];
  switch (schema['type']) {
    case 'object':
      return name === 'reference' ? { campaign: 'spring' } : exampleOfObject(schema);
    case 'array':
      return [exampleAs(schema['items'] as Schema, name.replace(/s$/, ''))];
    case 'integer':
    case 'number':
      return numbers[name] ?? schema['minimum'] ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleOfText(schema['format'], name);
  }
}

function exampleOfObject(schema: Schema): object {
  const {
    properties = {},
    patternProperties = {},
    required = [],
  } = schema as {
    properties?: Readonly<Record<string, Schema>>;
    patternProperties?: Readonly<Record<string, Schema>>;
    required?: readonly string[];
  };
  const [entry] = Object.values(patternProperties);
  return Object.fromEntries([
    ...required.map((name) => [name, exampleAs(properties[name]!, name)] as const),
    ...(entry ? [[key, exampleAs(entry, key)] as const] : []),
  ]);
}

function exampleOfText(format: unknown, name: string): string {
  if (format === 'uuid') return uuidOf(name);
  if (format === 'date-time') return '2026-01-31T09:30:00.000Z';
  if (format === 'date') return '2026-01-31';
  if (format === 'uri' || /(^|_)(url|link|origin|site)$/.test(name)) return 'https://forms.example.com/f';
  return words[name] ?? (/(^|_)(by|from|author)$/.test(name) ? 'Ada Lovelace' : 'text');
}
