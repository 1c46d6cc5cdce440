import { type Static, Type } from 'typebox';
import type { Condition } from '#ast/basics/condition.ts';
import { listOf, listParameters, named } from '#kit/pagination.ts';
import { rangeParameters, replayRange } from '#kit/time-range.ts';
import { closed, failedReason, orNull, timestamp, uuid } from '#kit/validation.ts';
import { triggers } from './delivery-job.ts';
import { eventKinds } from './event.ts';
import { pausers } from './record-event.ts';
import { replayStatuses } from './replay-filter.ts';
import { deliveryStatuses } from './retry-delivery.ts';
import { longestName, longestUrl, longestValue, mostHeaders, secretLength } from './webhooks.ts';

const event = Type.Enum([...eventKinds]);
const status = Type.Enum([...deliveryStatuses]);

/** A webhook with its health at a glance. Tests count for nothing in it. */
export const Webhook = named(
  'Webhook',
  Type.Object({
    id: uuid,
    form_id: uuid,
    url: Type.String(),
    events: Type.Array(event),
    active: Type.Boolean(),
    has_secret: Type.Boolean(),
    /** Until when deliveries are signed with the secret of before, too; null when there is none. */
    previous_secret_until: orNull(timestamp),
    /** Of its own headers; their values are never shown. */
    header_names: Type.Array(Type.String()),
    /** A condition of the form language; null: it hears of every submission. */
    filter: orNull(Type.Unsafe<Condition>({ 'x-component': 'Condition' })),
    /** Whether it is paused when it has only failed for days. */
    pauses_on_failure: Type.Boolean(),
    /** Since when every delivery has failed; null while they arrive. */
    failing_since: orNull(timestamp),
    /** Null while it is active. */
    paused_at: orNull(timestamp),
    paused_by: orNull(Type.Enum([...pausers])),
    created_at: timestamp,
    updated_at: timestamp,
    last_delivery: orNull(Type.Object({ status, created_at: timestamp })),
    /** Deliveries of the last 24 hours by what became of them so far. */
    day: Type.Object({ success: Type.Integer(), failed: Type.Integer(), retrying: Type.Integer() }),
  }),
);
export type Webhook = Static<typeof Webhook>;

const rules = {
  /** Whether the plan of the workspace allows secrets. */
  secrets_allowed: Type.Boolean(),
  /** How often an automatic delivery is tried at most, the first send included. */
  most_attempts: Type.Integer(),
  /** After how many days of nothing but failures a webhook is paused; 0: the operator has it never paused. */
  pause_days: Type.Integer(),
};
export const WebhookList = Type.Object({
  data: Type.Array(Webhook),
  ...rules,
  /** How many webhooks a form may have. */
  most_webhooks: Type.Integer(),
});
export type WebhookList = Static<typeof WebhookList>;
export const WebhookDetail = named('WebhookDetail', Type.Object({ webhook: Webhook, ...rules }));
export type WebhookDetail = Static<typeof WebhookDetail>;

// What is wrong with a URL, an event, a secret or a filter is said by #webhooks, all at once.
const texts = Type.Array(Type.String(), { maxItems: 10 });
/** What is no condition is refused in words of its own. */
const condition = Type.Unsafe<unknown>({ anyOf: [{ 'x-component': 'Condition' }, { type: 'null' }] });
const url = Type.String({ maxLength: longestUrl });
const secret = Type.String({ maxLength: secretLength.most });
const header = {
  name: Type.String({ maxLength: longestName }),
  value: orNull(Type.String({ maxLength: longestValue })),
};
const headers = Type.Array(Type.Object(header, closed), { maxItems: mostHeaders });
export const NewWebhook = named(
  'NewWebhook',
  Type.Object(
    {
      url,
      events: texts,
      /** `generate`, or a text of 16 to 256 characters. */
      secret: Type.Optional(secret),
      /** Sent with every delivery. */
      headers: Type.Optional(headers),
      filter: Type.Optional(condition),
      /** Yes, when left out. */
      pauses_on_failure: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
);
export type NewWebhook = Static<typeof NewWebhook>;
/** After a change: `secret` is shown this once; null when none was set. */
export const WebhookWithSecret = named(
  'WebhookWithSecret',
  Type.Object({ ...Webhook.properties, secret: orNull(Type.String()) }),
);
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

/** What is left out stays as it is. */
export const WebhookChange = named(
  'WebhookChange',
  Type.Object(
    {
      url: Type.Optional(url),
      events: Type.Optional(texts),
      active: Type.Optional(Type.Boolean()),
      /** `generate`, a text of 16 to 256 characters, or null to sign no more. */
      secret: Type.Optional(orNull(secret)),
      /** Whether the secret of before goes on signing for a day; yes, when left out. */
      overlap: Type.Optional(Type.Boolean()),
      /** All that there are to be; a null keeps the value that it has. */
      headers: Type.Optional(headers),
      /** null for none. */
      filter: Type.Optional(condition),
      pauses_on_failure: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
);
export type WebhookChange = Static<typeof WebhookChange>;
/** `generate` when left out. */
export const NewSecret = Type.Object(
  { secret: Type.Optional(secret), overlap: Type.Optional(Type.Boolean()) },
  closed,
);

export const TestRequest = Type.Object(
  {
    event,
    /** Where it goes instead of to the webhook. */
    url: Type.Optional(url),
    /** So many of the last completed submissions instead of a sample. */
    submissions: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  },
  closed,
);
export type TestRequest = Static<typeof TestRequest>;
/** The deliveries in which the outcomes will stand, the oldest submission's first; `id` is the last of them. */
export const SentTest = Type.Object({ id: uuid, ids: Type.Array(uuid) });
export type SentTest = Static<typeof SentTest>;

export const DeliveryQuery = Type.Object(
  {
    ...listParameters,
    status: Type.Optional(status),
    event: Type.Optional(event),
    ...rangeParameters,
  },
  closed,
);

const line = {
  id: uuid,
  event,
  status,
  is_test: Type.Boolean(),
  submission_id: uuid,
  created_at: timestamp,
  attempts: Type.Integer(),
  /** Of the last attempt; null when none was answered. */
  response_status: orNull(Type.Integer()),
  response_ms: orNull(Type.Integer()),
  /** Why the last attempt failed, and how it goes on, in words. */
  reason: orNull(Type.String()),
  next_attempt_at: orNull(timestamp),
};
export const DeliveryLine = named('Delivery', Type.Object(line));
export type DeliveryLine = Static<typeof DeliveryLine>;
export const DeliveryList = listOf(DeliveryLine);
export type DeliveryList = Static<typeof DeliveryList>;

export const Attempt = named(
  'DeliveryAttempt',
  Type.Object({
    attempt: Type.Integer(),
    trigger: Type.Enum([...triggers]),
    started_at: timestamp,
    /** Where the request went; null when nothing was sent, or nothing was kept of it. */
    url: orNull(Type.String()),
    request_headers: orNull(Type.Record(Type.String(), Type.String())),
    response_status: orNull(Type.Integer()),
    response_ms: Type.Integer(),
    /** Milliseconds of each step; null for one that was not reached, or not needed because the connection was open. */
    dns_ms: orNull(Type.Number()),
    connect_ms: orNull(Type.Number()),
    tls_ms: orNull(Type.Number()),
    first_byte_ms: orNull(Type.Number()),
    /** SHA-256, in hexadecimal, and length of the bytes that were sent; null when nothing was. */
    body_sha256: orNull(Type.String()),
    body_bytes: orNull(Type.Integer()),
    /** Whether the body, made again from the event, has that SHA-256; null when nothing was sent. */
    is_body_exact: orNull(Type.Boolean()),
    response_headers: orNull(Type.Record(Type.String(), Type.String())),
    /** At most the first 4 KB. */
    response_body: orNull(Type.String()),
    reason: orNull(Type.String()),
  }),
);
export type Attempt = Static<typeof Attempt>;
export const DeliveryDetail = named(
  'DeliveryDetail',
  Type.Object({
    ...line,
    webhook_id: uuid,
    /** The JSON text that every attempt sends, but for the signatures in the links of files. */
    request_body: Type.String(),
    /** Oldest first. */
    history: Type.Array(Attempt),
  }),
);
export type DeliveryDetail = Static<typeof DeliveryDetail>;

/** Which deliveries are sent again; `created_from` is inclusive, `created_to` is not. What is left out: those that failed. */
export const ReplayQuery = Type.Object(
  {
    status: Type.Optional(Type.Enum([...replayStatuses, 'any'])),
    event: Type.Optional(event),
    ...replayRange,
  },
  closed,
);
export type ReplayQuery = Static<typeof ReplayQuery>;
export const Replay = named(
  'Replay',
  Type.Object({
    id: uuid,
    webhook_id: uuid,
    state: Type.Enum(['running', 'finished', 'cancelled', 'failed']),
    filter: Type.Object({
      status: orNull(Type.Enum([...replayStatuses])),
      event: orNull(event),
      since: orNull(timestamp),
      until: orNull(timestamp),
    }),
    /** How many it is about, and how many of them were put on their way. */
    total: Type.Integer(),
    done: Type.Integer(),
    created_at: timestamp,
    ended_at: orNull(timestamp),
    failed_reason: failedReason,
  }),
);
export type Replay = Static<typeof Replay>;
/** For who writes a receiver: texts to be shown and copied. */
export const Payload = Type.Object({
  schema_url: Type.String(),
  /** Where the same bodies are pulled. */
  feed_url: Type.String(),
  /** JSON. */
  schema: Type.String(),
  type_script: Type.String(),
  /** The body of each event, of a submission that was never made. */
  samples: Type.Array(Type.Object({ event, body: Type.String() })),
});
export type Payload = Static<typeof Payload>;
/** A program that receives the events of this webhook. */
export const Receiver = named(
  'Receiver',
  Type.Object({
    id: Type.Enum(['node', 'python', 'php', 'go']),
    label: Type.String(),
    file: Type.String(),
    code: Type.String(),
  }),
);
export type Receiver = Static<typeof Receiver>;

const counts = { success: Type.Integer(), failed: Type.Integer(), retrying: Type.Integer() };
/** Deliveries of a time that ends now, tests left out. */
const window = Type.Object({
  ...counts,
  /** Of those that were answered, in milliseconds, last attempts only: the middle one, and the slowest of twenty. */
  p50_ms: orNull(Type.Integer()),
  p95_ms: orNull(Type.Integer()),
});
export const WebhookHealth = named(
  'WebhookHealth',
  Type.Object({
    day: window,
    week: window,
    /** The last 24 hours by the hour and the last 7 days by the day, oldest first, without gaps. */
    hours: Type.Array(Type.Object({ at: timestamp, ...counts })),
    days: Type.Array(Type.Object({ at: timestamp, ...counts })),
  }),
);
export type WebhookHealth = Static<typeof WebhookHealth>;
