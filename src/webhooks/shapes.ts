import { type Static, Type } from 'typebox';
import type { Condition } from '#ast/basics/condition.ts';
import { listParameters, listSchemaOf, namedObject, nameSchema } from '#kit/pagination.ts';
import { replayRangeParameters, timeRangeParameters } from '#kit/time-range.ts';
import { failedReasonSchema, orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { triggers } from './delivery-job.ts';
import { eventKinds } from './event.ts';
import { webhookFormats } from './format-body.ts';
import { pausers } from './record-event.ts';
import { replayStatuses } from './replay-filter.ts';
import { deliveryStatuses } from './retry-delivery.ts';
import { templateSchema } from './template.ts';
import {
  longestHeaderName,
  longestHeaderValue,
  longestUrl,
  mostHeaders,
  secretLength,
} from './webhook-problems.ts';

const event = Type.Enum([...eventKinds]);
const status = Type.Enum([...deliveryStatuses]);

const format = Type.Enum([...webhookFormats]);

/** A webhook with a summary of its health. Tests are not counted. */
export const Webhook = namedObject('Webhook', {
  id: uuidSchema,
  /** The form whose events it sends; null for a webhook of the workspace, which sends the events of all forms. */
  form_id: orNull(uuidSchema),
  form_name: orNull(Type.String()),
  url: Type.String(),
  events: Type.Array(event),
  active: Type.Boolean(),
  has_secret: Type.Boolean(),
  /** The time until which deliveries are also signed with the previous secret; null if there is none. */
  previous_secret_until: orNull(timestampSchema),
  /** The names of its custom headers. Their values are never shown. */
  header_names: Type.Array(Type.String()),
  /** A condition of the form language; null for every submission. */
  filter: orNull(Type.Unsafe<Condition>({ 'x-component': 'Condition' })),
  /** The body: an event in the standard format, a message of a chat service, or a template. */
  format,
  /** The template of the format `template`, as it was sent; null for other formats. */
  template: orNull(templateSchema),
  /** Whether it is paused after several days in which every delivery failed. */
  pauses_on_failure: Type.Boolean(),
  /** The time since which every delivery has failed; null while deliveries succeed. */
  failing_since: orNull(timestampSchema),
  /** When the webhook was paused; null while it is active. */
  paused_at: orNull(timestampSchema),
  paused_by: orNull(Type.Enum([...pausers])),
  created_at: timestampSchema,
  updated_at: timestampSchema,
  last_delivery: orNull(Type.Object({ status, created_at: timestampSchema })),
  /** Deliveries of the last 24 hours by current status. */
  day: Type.Object({ success: Type.Integer(), failed: Type.Integer(), retrying: Type.Integer() }),
});
export type Webhook = Static<typeof Webhook>;

const rules = {
  /** Whether the plan of the workspace allows secrets. */
  secrets_allowed: Type.Boolean(),
  /** The maximum number of automatic attempts of a delivery, including the first. */
  most_attempts: Type.Integer(),
  /** A webhook is paused after this many days of failures only; 0 if the operator has turned this off. */
  pause_days: Type.Integer(),
};
export const WebhookList = Type.Object({
  data: Type.Array(Webhook),
  ...rules,
  /** The maximum number of webhooks per form. */
  most_webhooks: Type.Integer(),
});
export type WebhookList = Static<typeof WebhookList>;
export const WorkspaceWebhookList = Type.Object({
  ...listSchemaOf(Webhook).properties,
  ...rules,
  /** The maximum number of webhooks of the workspace itself. */
  most_webhooks: Type.Integer(),
});
export type WorkspaceWebhookList = Static<typeof WorkspaceWebhookList>;
export const WebhookDetail = namedObject('WebhookDetail', { webhook: Webhook, ...rules });
export type WebhookDetail = Static<typeof WebhookDetail>;

// #webhooks validates URLs, events, secrets and filters, and reports all problems together.
const texts = Type.Array(Type.String(), { maxItems: 10 });
/** A value that is not a condition gets its own error message. */
const condition = Type.Unsafe<unknown>({ anyOf: [{ 'x-component': 'Condition' }, { type: 'null' }] });
const url = Type.String({ maxLength: longestUrl });
const secret = Type.String({ maxLength: secretLength.most });
const header = {
  name: Type.String({ maxLength: longestHeaderName }),
  value: orNull(Type.String({ maxLength: longestHeaderValue })),
};
const headers = Type.Array(strictObject(header), { maxItems: mostHeaders });
const formatFields = {
  /** Default: `standard`. For `telegram`, the URL needs `?chat_id=`. */
  format: Type.Optional(format),
  /** Required for the format `template`. */
  template: Type.Optional(orNull(templateSchema)),
};
export const NewWebhook = nameSchema(
  'NewWebhook',
  strictObject({
    url,
    events: texts,
    /** `generate`, or 16 to 256 characters. */
    secret: Type.Optional(secret),
    /** Sent with every delivery. */
    headers: Type.Optional(headers),
    /** Not allowed for a webhook of the workspace. */
    filter: Type.Optional(condition),
    ...formatFields,
    /** Default: true. */
    pauses_on_failure: Type.Optional(Type.Boolean()),
  }),
);
export type NewWebhook = Static<typeof NewWebhook>;
/** A webhook after a change. `secret` is shown only once; null if none was set. */
export const WebhookWithSecret = namedObject('WebhookWithSecret', {
  ...Webhook.properties,
  secret: orNull(Type.String()),
});
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

/** Changes to a webhook. Omitted values are kept. */
export const WebhookChange = nameSchema(
  'WebhookChange',
  strictObject({
    url: Type.Optional(url),
    events: Type.Optional(texts),
    active: Type.Optional(Type.Boolean()),
    /** `generate`, 16 to 256 characters, or null to stop signing. */
    secret: Type.Optional(orNull(secret)),
    /** Whether the previous secret keeps signing for a day. Default: true. */
    overlap: Type.Optional(Type.Boolean()),
    /** Replaces all headers. A null value keeps the current one. */
    headers: Type.Optional(headers),
    filter: Type.Optional(condition),
    ...formatFields,
    pauses_on_failure: Type.Optional(Type.Boolean()),
  }),
);
export type WebhookChange = Static<typeof WebhookChange>;
/** A new secret. Default: `generate`. */
export const NewWebhookSecret = strictObject({
  secret: Type.Optional(secret),
  overlap: Type.Optional(Type.Boolean()),
});

export const WebhookTestRequest = strictObject({
  event,
  /** The form of the test, for a webhook of the workspace. Default: the form of the last submission. */
  form_id: Type.Optional(uuidSchema),
  /** The URL for the test, if it differs from the webhook's. */
  url: Type.Optional(url),
  /** Sends this many of the last completed submissions instead of a sample. */
  submissions: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
});
export type WebhookTestRequest = Static<typeof WebhookTestRequest>;
/** A format that is not saved yet, and what to preview it with. */
export const WebhookPreviewRequest = strictObject({
  format,
  template: Type.Optional(orNull(templateSchema)),
  /** The URL of the webhook, for formats that read a parameter from it. */
  url: Type.Optional(url),
  /** Default: `submission.created`. */
  event: Type.Optional(event),
  /** The form of the webhook. Omit it for a webhook of the workspace. */
  form_id: Type.Optional(uuidSchema),
  /** The submission to preview. Default: the last completed one, or a sample. */
  submission_id: Type.Optional(uuidSchema),
});
export const WebhookPreview = Type.Object({
  /** The JSON text that the webhook would send. */
  body: Type.String(),
  /** The submission in the body; null for a sample. */
  submission_id: orNull(uuidSchema),
});

/** The deliveries that will show the outcomes, oldest submission first. `id` is the last of them. */
export const SentWebhookTest = Type.Object({ id: uuidSchema, ids: Type.Array(uuidSchema) });
export type SentWebhookTest = Static<typeof SentWebhookTest>;

export const DeliveryQuery = strictObject({
  ...listParameters,
  status: Type.Optional(status),
  event: Type.Optional(event),
  ...timeRangeParameters,
});

const line = {
  id: uuidSchema,
  event,
  status,
  is_test: Type.Boolean(),
  form_id: uuidSchema,
  submission_id: uuidSchema,
  created_at: timestampSchema,
  attempts: Type.Integer(),
  /** The HTTP status of the last attempt; null if there was no response. */
  response_status: orNull(Type.Integer()),
  response_ms: orNull(Type.Integer()),
  /** Why the last attempt failed, and what happens next. */
  reason: orNull(Type.String()),
  next_attempt_at: orNull(timestampSchema),
};
export const DeliveryLine = namedObject('Delivery', line);
export type DeliveryLine = Static<typeof DeliveryLine>;
export const DeliveryList = listSchemaOf(DeliveryLine);
export type DeliveryList = Static<typeof DeliveryList>;

export const Attempt = namedObject('DeliveryAttempt', {
  attempt: Type.Integer(),
  trigger: Type.Enum([...triggers]),
  started_at: timestampSchema,
  /** The URL of the request; null if nothing was sent or recorded. */
  url: orNull(Type.String()),
  request_headers: orNull(Type.Record(Type.String(), Type.String())),
  response_status: orNull(Type.Integer()),
  response_ms: Type.Integer(),
  /**
   * The duration of each step in milliseconds; null if the step was not reached, or was not needed because
   * the connection was open.
   */
  dns_ms: orNull(Type.Number()),
  connect_ms: orNull(Type.Number()),
  tls_ms: orNull(Type.Number()),
  first_byte_ms: orNull(Type.Number()),
  /** The hexadecimal SHA-256 and the length of the sent bytes; null if nothing was sent. */
  body_sha256: orNull(Type.String()),
  body_bytes: orNull(Type.Integer()),
  /** Whether the body, when built again from the event, has that SHA-256; null if nothing was sent. */
  is_body_exact: orNull(Type.Boolean()),
  response_headers: orNull(Type.Record(Type.String(), Type.String())),
  /** The body of the response, at most its first 4 KB. */
  response_body: orNull(Type.String()),
  reason: orNull(Type.String()),
});
export type Attempt = Static<typeof Attempt>;
export const DeliveryDetail = namedObject('DeliveryDetail', {
  ...line,
  webhook_id: uuidSchema,
  /** The JSON text that every attempt sends, without the signatures in file links. */
  request_body: Type.String(),
  /** The attempts of the delivery, oldest first. */
  history: Type.Array(Attempt),
});
export type DeliveryDetail = Static<typeof DeliveryDetail>;

/**
 * Selects the deliveries to send again. `created_from` is inclusive, `created_to` is exclusive. Default:
 * failed deliveries.
 */
export const ReplayQuery = strictObject({
  status: Type.Optional(Type.Enum([...replayStatuses, 'any'])),
  event: Type.Optional(event),
  ...replayRangeParameters,
});
export type ReplayQuery = Static<typeof ReplayQuery>;
export const Replay = namedObject('Replay', {
  id: uuidSchema,
  webhook_id: uuidSchema,
  state: Type.Enum(['running', 'finished', 'cancelled', 'failed']),
  filter: Type.Object({
    status: orNull(Type.Enum([...replayStatuses])),
    event: orNull(event),
    since: orNull(timestampSchema),
    until: orNull(timestampSchema),
  }),
  /** The number of deliveries in the replay, and the number that were enqueued. */
  total: Type.Integer(),
  done: Type.Integer(),
  created_at: timestampSchema,
  ended_at: orNull(timestampSchema),
  failed_reason: failedReasonSchema,
});
export type Replay = Static<typeof Replay>;
/** Texts to show and copy, for developers who write webhook receivers. */
export const PayloadDescription = Type.Object({
  schema_url: Type.String(),
  /** The URL of the event feed, which has the same bodies. */
  feed_url: Type.String(),
  /** The JSON Schema as text. */
  schema: Type.String(),
  type_script: Type.String(),
  /** The body of each event, for a sample submission. */
  samples: Type.Array(Type.Object({ event, body: Type.String() })),
});
export type PayloadDescription = Static<typeof PayloadDescription>;
/** An example program that receives the events of this webhook. */
export const ExampleReceiver = namedObject('Receiver', {
  id: Type.Enum(['node', 'python', 'php', 'go']),
  label: Type.String(),
  file: Type.String(),
  code: Type.String(),
});
export type ExampleReceiver = Static<typeof ExampleReceiver>;

const counts = { success: Type.Integer(), failed: Type.Integer(), retrying: Type.Integer() };
/** Deliveries in a period that ends now. Tests are not counted. */
const window = Type.Object({
  ...counts,
  /** Median and p95 of response times, in milliseconds, of the last attempts that got a response. */
  p50_ms: orNull(Type.Integer()),
  p95_ms: orNull(Type.Integer()),
});
export const WebhookHealth = namedObject('WebhookHealth', {
  day: window,
  week: window,
  /** The last 24 hours by hour and the last 7 days by day, oldest first, without gaps. */
  hours: Type.Array(Type.Object({ at: timestampSchema, ...counts })),
  days: Type.Array(Type.Object({ at: timestampSchema, ...counts })),
});
export type WebhookHealth = Static<typeof WebhookHealth>;
