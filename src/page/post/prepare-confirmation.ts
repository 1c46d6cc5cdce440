import { createHash } from 'node:crypto';
import { createAnswerFormatter } from '#ast/answers/format-piped.ts';
import { isRecord } from '#ast/basics/json.ts';
import { fillPiped, pipedIds } from '#ast/form/piping.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import type { Settings } from '#ast/settings.ts';
import { type Confirmation, findConfirmationIndex, withConfirmation } from '#ast/settings-by-condition.ts';
import { now } from '#kit/clock.ts';
import type { Vault } from '#kit/vault.ts';
import { signPdfLinkToken } from '#submissions/links.ts';
import type { FormatAnswer } from '../markup/html.ts';
import type { Visit } from '../visit/visit.ts';

/** The URL parameter of the confirmation page that contains the answers shown in its texts. */
export const confirmationParameter = '_told';

/** How long the URL shows the answers, in milliseconds. Anyone who finds it later learns nothing. */
const confirmationMs = 3_600_000;
/** The limit for all answers together, in characters: browsers and proxies truncate longer URLs. */
const confirmationCharacters = 2_000;

/** The settings and message of the confirmation, with the answers filled in. */
export type PreparedConfirmation = {
  /** The form's settings, with the confirmation that applies to the answers. */
  readonly settings: Settings;
  readonly message: string | undefined;
  /** The answers for the page's URL, sealed so that the URL does not reveal them. */
  readonly token: string | undefined;
  /** The token of the link to the PDF, if the form offers it. */
  readonly pdf: string | undefined;
};

/** The posted answers, and the id under which they were accepted. */
type Sent = {
  readonly id: string;
  readonly raw: unknown;
  readonly files: ReadonlyMap<string, readonly { filename: string }[]>;
};

/** Prepares the confirmation of accepted answers. */
export function prepareConfirmation(
  vault: Vault,
  visit: Visit,
  { id, raw, files }: Sent,
): PreparedConfirmation {
  const { live, locale: language, numberLocale, words, context } = visit;
  const { confirmations = [] } = live.settings;
  const place = findConfirmationIndex(confirmations, live.form, raw, context, files);
  const chosen = place === undefined ? undefined : confirmations[place];
  const settings = withConfirmation(live.settings, chosen);
  const message = settings.confirmation_message;
  const title = settings.theme?.confirmation_title ?? '';
  const ids = new Set(pipedIds(`${title} ${message ?? ''}`));
  const pdf = pdfTokenOf(vault, live, id);
  if (ids.size === 0 && !chosen) return { settings, message, token: undefined, pdf };
  const formatAnswer = createAnswerFormatter({
    form: live.form,
    values: isRecord(raw) ? raw : {},
    files,
    shown: evaluateVisibility(live.form, raw, context, files),
    format: { language, numberLocale, words },
  });
  const answers: Record<string, string> = {};
  let left = confirmationCharacters;
  for (const id of ids) {
    const text = formatAnswer(id);
    left -= text.length;
    if (left >= 0) answers[id] = text;
  }
  const sealed = vault.seal(
    'told answers',
    JSON.stringify({
      workspace: live.workspaceId,
      form: live.id,
      until: now().getTime() + confirmationMs,
      said: answers,
      ...(chosen && { chosen: markOf(chosen) }),
    }),
  );
  const filled = message && fillPiped(message, formatAnswer);
  return { settings, message: filled, token: sealed.toString('base64url'), pdf };
}

/** Returns the token of the link to the PDF of a submission; undefined if the form does not offer it. */
export const pdfTokenOf = (
  vault: Vault,
  { settings, workspaceId, id: formId }: Visit['live'],
  id: string,
): string | undefined =>
  settings.offer_pdf ? signPdfLinkToken(vault, { workspaceId, formId, id }) : undefined;

/** Reads the confirmation from a URL. If the token has expired or is invalid, no answers are shown. */
export function readConfirmation(
  vault: Vault,
  { live, address }: Visit,
): { readonly formatAnswer: FormatAnswer; readonly settings: Settings } {
  const token = address.own.get(confirmationParameter);
  const payload = token === undefined ? undefined : open(vault, token);
  const isOurs =
    payload?.workspace === live.workspaceId && payload.form === live.id && payload.until > now().getTime();
  const chosen = live.settings.confirmations?.find((each) => isOurs && markOf(each) === payload.chosen);
  return {
    formatAnswer: (id) => (isOurs && Object.hasOwn(payload.said, id) ? payload.said[id]! : ''),
    settings: withConfirmation(live.settings, chosen),
  };
}

/** Identifies a confirmation by its condition, because its position may change. */
const markOf = ({ when }: Confirmation): string =>
  createHash('sha256').update(JSON.stringify(when)).digest('base64url').slice(0, 16);

type SealedConfirmation = {
  readonly workspace: string;
  readonly form: string;
  readonly until: number;
  readonly said: Readonly<Record<string, string>>;
  /** The mark of the confirmation that applies to the answers. */
  readonly chosen?: string;
};

function open(vault: Vault, token: string): SealedConfirmation | undefined {
  try {
    return JSON.parse(vault.unseal('told answers', Buffer.from(token, 'base64url'))) as SealedConfirmation;
  } catch {
    // A truncated or forged token counts as missing.
    return undefined;
  }
}
