import { createHash } from 'node:crypto';
import { createAnswerFormatter, createPlaceholderFiller } from '#ast/answers/format-piped.ts';
import { isShownById, type QuizResult, quizOf, withScores } from '#ast/answers/quiz.ts';
import { isRecord } from '#ast/basics/json.ts';
import { fillPiped, pipedIds } from '#ast/form/piping.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import type { Settings } from '#ast/settings.ts';
import { type Confirmation, findConfirmationIndex, withConfirmation } from '#ast/settings-by-condition.ts';
import { formInLanguage } from '#ast/translations/translations.ts';
import { now } from '#kit/clock.ts';
import type { Vault } from '#kit/vault.ts';
import { signPdfLinkToken } from '#submissions/links.ts';
import { describeQuizFor } from '#submissions/quiz-result.ts';
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
  /** The token of the link to the PDF and the result, if the form offers one of them. */
  readonly pdf: string | undefined;
  /** The result of a quiz, if the form shows it. */
  readonly quiz: QuizResult | undefined;
  /** Whether the visitor can download a certificate. */
  readonly isCertified: boolean;
};

/** The posted answers, and the id under which they were accepted. */
type Sent = {
  readonly id: string;
  readonly raw: unknown;
  readonly files: ReadonlyMap<string, readonly { filename: string }[]>;
  /** Whether nothing is stored, so that the URL of the confirmation has the result of a quiz. */
  readonly isPreview?: boolean;
};

/** Prepares the confirmation of accepted answers. */
export function prepareConfirmation(
  vault: Vault,
  visit: Visit,
  { id, raw, files, isPreview = false }: Sent,
): PreparedConfirmation {
  const { live, locale: language, numberLocale, words, context } = visit;
  const { confirmations = [] } = live.settings;
  const scored = quizOf(live.form).scores.length > 0 ? scorePost(visit, raw, files) : undefined;
  const values = scored?.values ?? (isRecord(raw) ? raw : {});
  const place = findConfirmationIndex(confirmations, live.form, values, context, files);
  const chosen = place === undefined ? undefined : confirmations[place];
  const settings = withConfirmation(live.settings, chosen);
  const message = settings.confirmation_message;
  const title = settings.theme?.confirmation_title ?? '';
  const ids = new Set(pipedIds(`${title} ${message ?? ''}`));
  const quiz = scored?.result;
  const isCertified = scored?.isCertified ?? false;
  const pdf = pdfTokenOf(vault, live, id);
  const told = isPreview && quiz ? cutToUrl(quiz) : undefined;
  if (ids.size === 0 && !chosen && !told)
    return { settings, message, token: undefined, pdf, quiz, isCertified };
  const formatAnswer = createAnswerFormatter({
    form: live.form,
    values,
    files,
    shown: scored?.shown ?? evaluateVisibility(live.form, raw, context, files),
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
      ...(told && { quiz: told }),
    }),
  );
  const filled = message && fillPiped(message, formatAnswer);
  return { settings, message: filled, token: sealed.toString('base64url'), pdf, quiz, isCertified };
}

/** Scores the posted answers of a quiz, and describes its result. The form of the visit lacks the right answers. */
function scorePost(visit: Visit, raw: unknown, files: Sent['files']) {
  const { live, locale: language, numberLocale, words, context } = visit;
  const form = formInLanguage(live.written ?? live.form, visit.language);
  const shown = evaluateVisibility(live.form, raw, context, files);
  const isShown = isShownById(live.form, shown);
  const values = withScores(form, isRecord(raw) ? raw : {}, isShown);
  const format = { language, numberLocale, words };
  const fill = createPlaceholderFiller({ form: live.form, values, files, shown, format });
  const described = describeQuizFor({ form, values, isShown, settings: live.settings, format, fill });
  return { shown, values, result: described.shown, isCertified: described.certifiedName !== undefined };
}

/**
 * Returns the token of the link to the PDF and the quiz result of a submission; undefined if the form offers
 * neither.
 */
export const pdfTokenOf = (
  vault: Vault,
  { settings, workspaceId, id: formId, form }: Visit['live'],
  id: string,
): string | undefined =>
  settings.offer_pdf || quizOf(form).scores.length > 0
    ? signPdfLinkToken(vault, { workspaceId, formId, id })
    : undefined;

/** Leaves out the answers of a long quiz: browsers and proxies truncate longer URLs. */
const cutToUrl = (quiz: QuizResult): QuizResult =>
  JSON.stringify(quiz).length > 2 * confirmationCharacters ? { scores: quiz.scores } : quiz;

/** Reads the confirmation from a URL. If the token has expired or is invalid, no answers are shown. */
export function readConfirmation(
  vault: Vault,
  { live, address }: Visit,
): {
  readonly formatAnswer: FormatAnswer;
  readonly settings: Settings;
  readonly quiz: QuizResult | undefined;
} {
  const token = address.own.get(confirmationParameter);
  const payload = token === undefined ? undefined : open(vault, token);
  const isOurs =
    payload?.workspace === live.workspaceId && payload.form === live.id && payload.until > now().getTime();
  const chosen = live.settings.confirmations?.find((each) => isOurs && markOf(each) === payload.chosen);
  return {
    formatAnswer: (id) => (isOurs && Object.hasOwn(payload.said, id) ? payload.said[id]! : ''),
    settings: withConfirmation(live.settings, chosen),
    quiz: isOurs ? payload.quiz : undefined,
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
  /** The result of a quiz in a preview. */
  readonly quiz?: QuizResult;
};

function open(vault: Vault, token: string): SealedConfirmation | undefined {
  try {
    return JSON.parse(vault.unseal('told answers', Buffer.from(token, 'base64url'))) as SealedConfirmation;
  } catch {
    // A truncated or forged token counts as missing.
    return undefined;
  }
}
