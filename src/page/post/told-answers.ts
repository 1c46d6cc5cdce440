import { createHash } from 'node:crypto';
import { answerSayer } from '#ast/answers/say-piped.ts';
import { isRecord } from '#ast/basics/json.ts';
import { fillPiped, pipedIds } from '#ast/form/piping.ts';
import { evaluate } from '#ast/logic/evaluate.ts';
import type { Settings } from '#ast/settings.ts';
import { type Confirmation, chooseConfirmation, confirmedBy } from '#ast/settings-by-condition.ts';
import { now } from '#kit/clock.ts';
import type { Vault } from '#kit/vault.ts';
import type { SayAnswer } from '../markup/html.ts';
import type { Visit } from '../visit/visit.ts';

/** The parameter of the confirmation's address that holds the answers that its texts show. */
export const toldParameter = '_told';

/** For how long it says them: whoever finds the address later learns nothing. */
const toldMs = 3_600_000;
/** Characters of them in all: browsers and proxies cut what is longer. */
const toldCharacters = 2_000;

/** What follows a submission, and its message with the answers that it shows. */
export type Told = {
  /** Those that the answers choose a confirmation by. */
  readonly settings: Settings;
  readonly message: string | undefined;
  /** Sealed for the address of the page: of the answers themselves it shows none. */
  readonly token: string | undefined;
};

type Sent = {
  readonly raw: unknown;
  readonly files: ReadonlyMap<string, readonly { filename: string }[]>;
};

/** What the confirmation tells of answers that were taken. */
export function tellAnswers(vault: Vault, visit: Visit, { raw, files }: Sent): Told {
  const { live, locale: language, numbers, words, context } = visit;
  const { confirmations = [] } = live.settings;
  const place = chooseConfirmation(confirmations, live.form, raw, context, files);
  const chosen = place === undefined ? undefined : confirmations[place];
  const settings = confirmedBy(live.settings, chosen);
  const message = settings.confirmation_message;
  const title = settings.theme?.confirmation_title ?? '';
  const ids = new Set(pipedIds(`${title} ${message ?? ''}`));
  if (ids.size === 0 && !chosen) return { settings, message, token: undefined };
  const say = answerSayer({
    form: live.form,
    values: isRecord(raw) ? raw : {},
    held: files,
    shown: evaluate(live.form, raw, context, files),
    speech: { language, numbers, words },
  });
  const said: Record<string, string> = {};
  let left = toldCharacters;
  for (const id of ids) {
    const text = say(id);
    left -= text.length;
    if (left >= 0) said[id] = text;
  }
  const sealed = vault.seal(
    'told answers',
    JSON.stringify({
      workspace: live.workspaceId,
      form: live.id,
      until: now().getTime() + toldMs,
      said,
      ...(chosen && { chosen: markOf(chosen) }),
    }),
  );
  return { settings, message: message && fillPiped(message, say), token: sealed.toString('base64url') };
}

/** What an address tells of answers to this form; nothing once its time is over, or when it is none of ours. */
export function readTold(
  vault: Vault,
  { live, address }: Visit,
): { readonly say: SayAnswer; readonly settings: Settings } {
  const token = address.own.get(toldParameter);
  const told = token === undefined ? undefined : open(vault, token);
  const isOurs =
    told?.workspace === live.workspaceId && told.form === live.id && told.until > now().getTime();
  const chosen = live.settings.confirmations?.find((each) => isOurs && markOf(each) === told.chosen);
  return {
    say: (id) => (isOurs && Object.hasOwn(told.said, id) ? told.said[id]! : ''),
    settings: confirmedBy(live.settings, chosen),
  };
}

/** Tells one confirmation of a form from the others, also when others were put before it meanwhile. */
const markOf = ({ when }: Confirmation): string =>
  createHash('sha256').update(JSON.stringify(when)).digest('base64url').slice(0, 16);

type Sealed = {
  readonly workspace: string;
  readonly form: string;
  readonly until: number;
  readonly said: Readonly<Record<string, string>>;
  /** The confirmation that the answers chose, by its mark. */
  readonly chosen?: string;
};

function open(vault: Vault, token: string): Sealed | undefined {
  try {
    return JSON.parse(vault.unseal('told answers', Buffer.from(token, 'base64url'))) as Sealed;
  } catch {
    // Cut short or made up: as good as none.
    return undefined;
  }
}
