import { setTimeout as sleep } from 'node:timers/promises';
import { now } from '#kit/clock.ts';
import { untilAborted } from '#kit/concurrency.ts';
import { ApiError } from '#kit/errors.ts';
import { eventKinds } from '#webhooks/event.ts';
import { createDeliveryHeaders } from '#webhooks/signature.ts';
import { generateWebhookSecret } from '#webhooks/webhooks.ts';
import { type Api, callOperation } from '../operations/call-operation.ts';
import type { ReplyOf } from '../operations/operations.ts';
import { defineApiCommand, optionalOption, requiredOption } from './command.ts';
import { Unreached } from './remote-api.ts';
import { choiceValue, idValue, textValue, urlValue, wholeNumberValue } from './values.ts';

type Page = ReplyOf<'listEvents'>;
type Event = Page['data'][number];

/** The longest time, in seconds, for which the service lets a request wait for events. */
const waitSeconds = 30;
/** The timeout of a webhook delivery, in milliseconds. */
const answerMs = 10_000;
/** The pause before the next request while the service does not respond, in milliseconds. */
const againMs = 2_000;

/**
 * Receives events without a public URL: pulls them and sends them to a program on this machine, as a webhook
 * does.
 */
export const listenCommand = defineApiCommand({
  name: 'listen',
  summary: 'Forwards events to a URL on this machine as they happen, signed like webhook deliveries.',
  about:
    'Runs until you press Ctrl-C, until its output is no longer read (`| head`), or until it has sent --count events. Sends each event once and prints the response. Failures are not retried.',
  options: {
    'forward-to': requiredOption(urlValue),
    secret: optionalOption(textValue('<text>')),
    form: optionalOption(idValue),
    event: optionalOption(choiceValue(eventKinds)),
    count: optionalOption(wholeNumberValue),
  },
  async run(
    { api: ask, json, write, signal, reader },
    { 'forward-to': target, secret = generateWebhookSecret(), form, event, count },
  ) {
    // A request that only waits for events can be abandoned.
    const api: Api = (request) => untilAborted(untilAborted(ask(request), signal), reader);
    const writeLine = (line: string, document: object): Promise<void> =>
      write(Buffer.from(`${json ? JSON.stringify(document) : line}\n`));
    let cursor = await findEnd(api);
    await writeLine(`Listening. Sending events to ${target.href}, signed with the secret ${secret}`, {
      forward_to: target.href,
      secret,
    });
    for (let left = count ?? Infinity; left > 0; ) {
      const page = await readOn(api, {
        after: cursor,
        limit: Math.min(left, 100),
        wait: waitSeconds,
        ...(form !== undefined && { form_id: form }),
        ...(event !== undefined && { event }),
      }).catch((error: unknown) => {
        if (reader?.aborted) return undefined;
        throw error;
      });
      if (!page) break;
      for (const each of page.data) {
        if (reader?.aborted) break;
        const outcome = await forward(target, secret, each);
        await writeLine(`${each.timestamp}  ${each.event}  ${each.delivery_id}  ${outcome}`, {
          event: each.event,
          delivery_id: each.delivery_id,
          outcome,
        });
      }
      left -= page.data.length;
      cursor = page.next;
    }
    return undefined;
  },
});

async function findEnd(api: Api): Promise<string> {
  const { next } = await callOperation(api, 'listEvents', { query: { after: 'now', limit: 1 } });
  return next;
}

/**
 * Reads the next page. Retries while the service does not respond. If the cursor has expired, starts again at
 * the end.
 */
async function readOn(api: Api, query: { after: string; limit: number; wait: number }): Promise<Page> {
  for (;;) {
    try {
      return await callOperation(api, 'listEvents', { query });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'gone')
        return { data: [], next: await findEnd(api), has_more: false };
      const isAway =
        error instanceof Unreached || (error instanceof ApiError && error.code === 'service_unavailable');
      if (!isAway) throw error;
      await sleep(againMs);
    }
  }
}

/** Sends an event as a webhook does, and describes the outcome. */
async function forward(target: URL, secret: string, event: Event): Promise<string> {
  const body = Buffer.from(JSON.stringify(event));
  const headers = createDeliveryHeaders({
    kind: event.event,
    deliveryId: event.delivery_id,
    timestamp: Math.floor(now().getTime() / 1_000),
    body,
    secrets: [secret],
    custom: {},
    isTest: false,
  });
  const began = performance.now();
  const request = {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(answerMs),
  } as const;
  return fetch(target, request).then(
    async (response) => {
      await response.body?.cancel();
      return `${response.status} in ${Math.round(performance.now() - began)} ms`;
    },
    (error: Error) =>
      `no response: ${(error.cause as NodeJS.ErrnoException | undefined)?.code ?? error.message}`,
  );
}
