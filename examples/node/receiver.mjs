// Receives webhooks: verifies each delivery, handles it once, and answers.
//
// The URL of the webhook: https://example.com/hooks/formloom
// Start: WEBHOOK_SECRET=whsec_… PORT=8080 node receiver.mjs
// It serves plain HTTP. Put it behind a proxy that terminates TLS for this URL.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const EVENTS = ['submission.created', 'submission.updated', 'submission.deleted'];
const FIELD = 'subject';
const SECRET = process.env.WEBHOOK_SECRET ?? '';
const SEEN = process.env.SEEN_DIR ?? 'seen';

// --- verification -----------------------------------------------------------

const equal = (a, b) => a.length === b.length && timingSafeEqual(a, b);

// rawBody: the received bytes, before they are parsed.
// header: request.headers['x-service-signature']
export function isFromFormloom(rawBody, header, secret) {
  const expected = 'sha256=' + createHmac('sha256', secret).update(rawBody).digest('hex');
  return equal(Buffer.from(header ?? ''), Buffer.from(expected));
}

// The same with Standard Webhooks, which also rejects recorded deliveries that are sent again later.
// headers: webhook-id, webhook-timestamp and webhook-signature, in lower case. now: Unix seconds.
export function isStandardWebhook(rawBody, headers, secret, now = Date.now() / 1000) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': given = '' } = headers;
  if (!id || !/^\d+$/.test(time ?? '') || Math.abs(now - Number(time)) > 300) return false;
  const encoded = /^whsec_([A-Za-z0-9+/]{4,}={0,2})$/.exec(secret)?.[1];
  const key = encoded ? Buffer.from(encoded, 'base64') : Buffer.from(secret);
  const expected =
    'v1,' + createHmac('sha256', key).update(`${id}.${time}.`).update(rawBody).digest('base64');
  // For a day after the secret changes, there are two signatures.
  return given.split(' ').some((one) => equal(Buffer.from(one), Buffer.from(expected)));
}

// --- work -------------------------------------------------------------------

function handle(event) {
  const { submission } = event;
  console.log(event.event, submission.id, JSON.stringify(submission.responses[FIELD] ?? null));
}

/** Calls handle() once for each delivery_id. A failed delivery is sent again. */
export function handleOnce(event) {
  mkdirSync(SEEN, { recursive: true });
  // The file stands for a row with a unique key. It is better to write that row and your data in one transaction.
  const mark = join(SEEN, event.delivery_id.replace(/[^0-9A-Za-z-]/g, ''));
  try {
    writeFileSync(mark, '', { flag: 'wx' });
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  try {
    if (EVENTS.includes(event.event)) handle(event);
  } catch (error) {
    rmSync(mark);
    throw error;
  }
  return true;
}

// --- server -----------------------------------------------------------------

export const server = createServer((request, response) => {
  receive(request, response).catch((error) => {
    // The request was aborted. It will be sent again.
    console.error(error);
    response.destroy();
  });
});

async function receive(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks);
  const isOurs =
    isFromFormloom(rawBody, request.headers['x-service-signature'], SECRET) &&
    isStandardWebhook(rawBody, request.headers, SECRET);
  if (!isOurs) {
    response.writeHead(401).end();
    return;
  }
  try {
    const isNew = handleOnce(JSON.parse(rawBody.toString()));
    response.writeHead(200).end(isNew ? 'done\n' : 'seen before\n');
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
}

if (import.meta.main) {
  if (!SECRET) throw new Error('WEBHOOK_SECRET is missing.');
  server.listen(Number(process.env.PORT ?? 8080), () => console.log('listening on', server.address().port));
}
