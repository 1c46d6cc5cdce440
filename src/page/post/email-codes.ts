import type { FastifyRequest } from 'fastify';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import { isEmail } from '#ast/rules/text-formats.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { now } from '#kit/clock.ts';
import { readEnteredAddress } from '#kit/outbox/address.ts';
import type { Vault } from '#kit/vault.ts';
import { mailCode } from '#mail/notices/visitor-emails.ts';
import { listVerifiedElements, type VerifiedAddresses } from '#submissions/verified.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import { enforceRateLimit } from '#workspaces/authenticate.ts';
import type { CodeState } from '../visit/form-page.ts';
import type { Visit } from '../visit/visit.ts';
import { getControlValue, type PostedControls } from './controls.ts';
import type { PostServices } from './post-context.ts';

/** An address to verify. The codes and tokens of one element and address are of no use for another. */
export type AddressToVerify = { readonly live: LiveForm; readonly element: string; readonly address: string };

/**
 * Two signed times, for which no row is stored: when the code was sent, and when the right code was entered.
 * The first is the id of the code, the second the token of the verified address. `ms` is how long each is
 * valid.
 */
const stamps = { sent: { ms: 600_000 }, verified: { ms: 86_400_000 } } as const;
type Stamp = keyof typeof stamps;

/** The number of tries for one code; of tries from one IP address in ten minutes; of codes in an hour. */
const most = { tries: 5, triesFromIp: 30, codesFromIp: 60 } as const;

const partsOf = ({ live, element, address }: AddressToVerify, kind: string, at: string): string[] => [
  kind,
  live.workspaceId,
  live.id,
  element,
  address,
  at,
];

function signStamp(vault: Vault, kind: Stamp, target: AddressToVerify): string {
  const at = String(now().getTime());
  return `${at}.${vault.sign('email codes', partsOf(target, kind, at))}`;
}

/** Returns the time of a valid stamp. */
function readStamp(vault: Vault, kind: Stamp, target: AddressToVerify, text = ''): Date | undefined {
  const [, at, signature] = /^(\d{13})\.([\w-]{43})$/.exec(text) ?? [];
  if (at === undefined || signature === undefined) return undefined;
  const age = now().getTime() - Number(at);
  const isValid = age < stamps[kind].ms && vault.verify('email codes', partsOf(target, kind, at), signature);
  return isValid ? new Date(Number(at)) : undefined;
}

/** When a stamp that was just signed ends. */
export const endOfStamp = (kind: Stamp): Date => new Date(now().getTime() + stamps[kind].ms);

/** Returns the address as codes name it: without the case, in which mail servers see no difference. */
export function readAddressToVerify(text: unknown): string | undefined {
  if (typeof text !== 'string' || !isEmail(text.trim())) return undefined;
  return readEnteredAddress(text)?.address.toLowerCase();
}

/** Returns the code of an id, derived from each key of the instance, the current one first. */
const codesOf = (vault: Vault, target: AddressToVerify, id: string): string[] =>
  vault
    .signatures('email codes', partsOf(target, 'code', id))
    .map((signature) => String(Buffer.from(signature, 'base64url').readUIntBE(0, 6) % 1_000_000))
    .map((digits) => digits.padStart(6, '0'));

/**
 * Emails a code. @returns its id; undefined if the address has reached its limit, or no emails can be sent.
 * @throws ApiError rate_limit_exceeded.
 */
export async function sendCode(
  context: PostServices,
  { locale }: Visit,
  { ip }: FastifyRequest,
  target: AddressToVerify,
): Promise<string | undefined> {
  const { vault, requestCounter, config } = context;
  if (!config.smtp) return undefined;
  await enforceRateLimit(requestCounter, `codes from ${ipRateLimitKey(ip)}`, most.codesFromIp, {
    seconds: 3_600,
  });
  const id = signStamp(vault, 'sent', target);
  const { workspaceId, id: formId, form } = target.live;
  const source = { workspaceId, formId, formName: form.attrs.name, locale };
  const [code] = codesOf(vault, target, id);
  if (!(await mailCode(context, source, code!, { address: target.address }))) return undefined;
  context.wakeQueue();
  return id;
}

/**
 * Checks a code. @returns the token of the verified address; undefined if the code is wrong or has expired.
 * @throws ApiError rate_limit_exceeded.
 */
export async function checkCode(
  { vault, requestCounter }: PostServices,
  { ip }: FastifyRequest,
  target: AddressToVerify,
  { id, code }: { readonly id: string | undefined; readonly code: string },
): Promise<string | undefined> {
  if (id === undefined || !readStamp(vault, 'sent', target, id)) return undefined;
  const seconds = stamps.sent.ms / 1_000;
  await enforceRateLimit(requestCounter, `tries from ${ipRateLimitKey(ip)}`, most.triesFromIp, { seconds });
  await enforceRateLimit(requestCounter, `tries of ${id}`, most.tries, { seconds });
  const digits = code.replaceAll(/\s/g, '');
  return codesOf(vault, target, id).includes(digits) ? signStamp(vault, 'verified', target) : undefined;
}

/** Returns the verified addresses of answers, given a token for each element. */
export function readVerified(
  { vault }: { readonly vault: Vault },
  live: LiveForm,
  raw: unknown,
  tokenOf: (element: string) => string | undefined,
): VerifiedAddresses {
  return Object.fromEntries(
    listVerifiedElements(live.form).flatMap(({ attrs: { id: element } }) => {
      const address = readAddressToVerify(isRecord(raw) ? getProperty(raw, element) : undefined);
      const target = address !== undefined && { live, element, address };
      const time = target && readStamp(vault, 'verified', target, tokenOf(element));
      return time ? [[element, time.toISOString()]] : [];
    }),
  );
}

/** Returns the states that the page has posted. */
export function readCodeStates(
  { vault }: { readonly vault: Vault },
  live: LiveForm,
  { raw, controls }: { readonly raw: RawAnswers; readonly controls: PostedControls },
): Map<string, CodeState> {
  return new Map(
    listVerifiedElements(live.form).flatMap(({ attrs: { id: element } }): [string, CodeState][] => {
      const address = readAddressToVerify(getProperty(raw, element));
      if (address === undefined) return [];
      const target = { live, element, address };
      const token = getControlValue(controls, `_code[${element}]`);
      if (readStamp(vault, 'verified', target, token)) return [[element, { token: token! }]];
      const sent = getControlValue(controls, `_sent[${element}]`);
      return readStamp(vault, 'sent', target, sent) ? [[element, { sent: sent! }]] : [];
    }),
  );
}
