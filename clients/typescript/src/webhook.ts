import type { Event, FileUpload } from './api.ts';

/** Headers as frameworks provide them, in the format of `fetch` or of Node. */
type AnyHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

type Verification = {
  /** The maximum age of a delivery in seconds. Default: 300. Older deliveries are rejected as replays. */
  tolerance?: number;
  /**
   * The signatures to verify. Default: `both`, because the service sends both. `service` is
   * X-Service-Signature alone, which does not cover the timestamp. `standard` is the signature of Standard
   * Webhooks.
   */
  scheme?: 'both' | 'service' | 'standard';
};

/** Thrown if a delivery was not sent by the service, or repeats a recorded one. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/**
 * Verifies a webhook delivery in constant time, and parses it.
 * @param raw the unparsed body.
 * @param secret the webhook's secret, or several secrets during a rotation.
 * @throws WebhookVerificationError
 */
export async function verifyWebhook<Answers = Event['submission']['responses']>(
  raw: string | Uint8Array<ArrayBuffer> | ArrayBuffer,
  headers: AnyHeaders,
  secret: string | readonly string[],
  { tolerance = 300, scheme = 'both' }: Verification = {},
): Promise<WebhookEvent<Answers>> {
  const body = typeof raw === 'string' ? bytes(raw) : new Uint8Array(raw);
  const secrets = [secret].flat();
  if (secrets.length === 0 || secrets.includes('')) throw new TypeError('A secret is missing.');
  if (scheme !== 'standard' && !(await isSignedByService(body, headers, secrets)))
    throw new WebhookVerificationError('X-Service-Signature is missing or does not match this body.');
  if (scheme !== 'service') await requireStandard(body, headers, secrets, tolerance);
  return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent<Answers>;
}

/**
 * An event with the answers of a form: `WebhookEvent<AnswersOf<typeof contact>>`. Files are not among the
 * answers.
 */
export type WebhookEvent<Answers = Event['submission']['responses']> = Omit<Event, 'submission'> & {
  submission: Omit<Event['submission'], 'responses'> & {
    responses: {
      [K in keyof Answers as NonNullable<Answers[K]> extends FileUpload[] ? never : K]: Answers[K];
    };
  };
};

/** For a day after a secret is changed, deliveries have two signatures. */
async function isSignedByService(
  body: Bytes,
  headers: AnyHeaders,
  secrets: readonly string[],
): Promise<boolean> {
  const given = [header(headers, 'x-service-signature'), header(headers, 'x-service-signature-previous')]
    .map((value) => /^sha256=([0-9a-f]{64})$/.exec(value ?? '')?.[1])
    .filter((hex) => hex !== undefined)
    .map((hex) => Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16)));
  return isOneRight(secrets.map(bytes), given, body);
}

async function requireStandard(
  body: Bytes,
  headers: AnyHeaders,
  secrets: readonly string[],
  tolerance: number,
): Promise<void> {
  const [id, time, given] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    header(headers, name),
  );
  if (!id || !given || !/^\d+$/.test(time ?? ''))
    throw new WebhookVerificationError('webhook-id, webhook-timestamp or webhook-signature is missing.');
  const signatures = given
    .split(' ')
    .flatMap((each) => decode(/^v1,([A-Za-z0-9+/]+={0,2})$/.exec(each)?.[1]));
  const signed = new Uint8Array([...bytes(`${id}.${time}.`), ...body]);
  if (!(await isOneRight(secrets.map(standardKey), signatures, signed)))
    throw new WebhookVerificationError('webhook-signature does not match this body.');
  if (Math.abs(Date.now() / 1000 - Number(time)) > tolerance)
    throw new WebhookVerificationError(
      'The timestamp is too far from the current time. The request may be a replay, or the clocks may differ.',
    );
}

/** `whsec_` is followed by bytes in base64. Any other secret is used as text. */
const standardKey = (secret: string): Bytes =>
  decode(/^whsec_([A-Za-z0-9+/]{4,}={0,2})$/.exec(secret)?.[1])[0] ?? bytes(secret);

type Bytes = Uint8Array<ArrayBuffer>;
const algorithm = { name: 'HMAC', hash: 'SHA-256' };

/** Returns whether any of the keys made any of the signatures. WebCrypto compares in constant time. */
async function isOneRight(
  keys: readonly Bytes[],
  signatures: readonly Bytes[],
  signed: Bytes,
): Promise<boolean> {
  for (const raw of keys) {
    const key = await crypto.subtle.importKey('raw', raw, algorithm, false, ['verify']);
    for (const each of signatures) if (await crypto.subtle.verify('HMAC', key, each, signed)) return true;
  }
  return false;
}

function header(headers: AnyHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : value?.[0];
}

const bytes = (text: string): Bytes => new TextEncoder().encode(text);

/** Decodes base64; returns an empty list if it is invalid. */
function decode(text: string | undefined): Bytes[] {
  try {
    return text === undefined ? [] : [Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))];
  } catch {
    return [];
  }
}
