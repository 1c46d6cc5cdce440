import { answerSayer } from '#ast/answers/say-piped.ts';
import { isRecord } from '#ast/json.ts';
import { evaluate } from '#ast/logic/evaluate.ts';
import { fillPiped, pipedIds } from '#ast/piping.ts';
import { now } from '#kit/clock.ts';
import type { Vault } from '#kit/vault.ts';
import type { SayAnswer } from './render/piped.ts';
import type { Visit } from './visit/visit.ts';

/** The parameter of the confirmation's address that holds the answers that its texts show. */
export const toldParameter = '_told';

/** For how long it says them: whoever finds the address later learns nothing. */
const toldMs = 3_600_000;
/** Characters of them in all: browsers and proxies cut what is longer. */
const toldCharacters = 2_000;

/** The confirmation message with the answers that it shows. */
export type Told = {
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
  const message = live.settings.confirmation_message;
  const title = live.settings.theme?.confirmation_title ?? '';
  const ids = new Set(pipedIds(`${title} ${message ?? ''}`));
  if (ids.size === 0) return { message, token: undefined };
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
    JSON.stringify({ form: live.id, until: now().getTime() + toldMs, said }),
  );
  return { message: message && fillPiped(message, say), token: sealed.toString('base64url') };
}

/** What an address tells of answers to this form; nothing once its time is over, or when it is none of ours. */
export function readTold(vault: Vault, { live, address }: Visit): SayAnswer {
  const token = address.own.get(toldParameter);
  const told = token === undefined ? undefined : open(vault, token);
  const isOurs = told?.form === live.id && told.until > now().getTime();
  return (id) => (isOurs && Object.hasOwn(told.said, id) ? told.said[id]! : '');
}

type Sealed = {
  readonly form: string;
  readonly until: number;
  readonly said: Readonly<Record<string, string>>;
};

function open(vault: Vault, token: string): Sealed | undefined {
  try {
    return JSON.parse(vault.unseal('told answers', Buffer.from(token, 'base64url'))) as Sealed;
  } catch {
    // Cut short or made up: as good as none.
    return undefined;
  }
}
