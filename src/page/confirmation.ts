import type { FastifyRequest } from 'fastify';
import { quizOf } from '#ast/answers/quiz.ts';
import { fillTemplate, formatDay } from '#ast/basics/words.ts';
import { editDaysOf } from '#ast/settings.ts';
import { formatReference } from '#ast/short-reference.ts';
import { formInLanguage } from '#ast/translations/translations.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { timeOfId } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { type Vault, verifyLink } from '#kit/vault.ts';
import { readPdfLink } from '#submissions/links.ts';
import { findForPdf } from '#submissions/pdf/render-submission-pdf.ts';
import { describeStoredQuiz, type StoredQuiz } from '#submissions/quiz-result.ts';
import { hasSubmitLimits } from '#submissions/response-limit.ts';
import { hasVisitorLink } from '#submissions/submission-record.ts';
import { findPosition } from '#submissions/waiting-list.ts';
import { getRedirectUrl, pdfAddress } from './post/handle-json-post.ts';
import { confirmationParameter, readConfirmation } from './post/prepare-confirmation.ts';
import { type LinkMailResult, renderConfirmation } from './render/notices.ts';
import { renderQuizResult } from './render/quiz-result.ts';
import { formatFormAddress, linkMailAddress } from './visit/address.ts';
import { languageLinks, type Visit } from './visit/visit.ts';

/** A confirmed submission: its id, the tokens of its links, and the result of emailing the edit link. */
type Confirmed = {
  readonly receipt: string;
  readonly token: string | undefined;
  /** The token of the link to the PDF. */
  readonly pdfToken?: string | undefined;
  readonly mailResult?: LinkMailResult;
};

/** Whether each person can respond once. */
const isForOneResponse = ({ access, one_per_respondent: isLimited }: LiveForm['settings']): boolean =>
  access === 'invited' || (access === 'organisation' && isLimited === true);

/** Renders the page shown after a submission, or after its edit link was emailed. */
export async function confirmationPage(
  context: {
    readonly scriptSource: string | undefined;
    readonly database: Database;
    readonly vault: Vault;
    readonly config: Pick<Config, 'publicUrl' | 'smtp'>;
  },
  visit: Visit,
  request: Pick<FastifyRequest, 'method' | 'url'>,
  { receipt, token, pdfToken, mailResult }: Confirmed,
): Promise<string> {
  const { live, language, locale, look, words, address } = visit;
  const { formatAnswer, settings, quiz: previewed } = readConfirmation(context.vault, visit);
  const { theme } = settings;
  const quiz = await findQuizResult(context, visit, pdfToken);
  const result = quiz?.shown ?? previewed;
  const isChanged = address.own.has('_changed');
  const submission = { workspaceId: live.workspaceId, formId: live.id, id: receipt };
  const position =
    token !== undefined && hasSubmitLimits(live) && verifyLink(context.vault, 'edit links', token, submission)
      ? await findPosition(context.database, submission)
      : undefined;
  const hasLink = hasVisitorLink(live.settings) || position !== undefined;
  const linkPath = hasLink && token !== undefined ? `${visit.path}/edit/${token}` : undefined;
  const editPath = live.settings.editing ? linkPath : undefined;
  const isNew = !isChanged && position === undefined;
  const own = new Map(
    [...address.own].filter(([name]) => name !== '_changed' && name !== confirmationParameter),
  );
  const addressOf = (path: string, carried: ReadonlyMap<string, string> = own): string =>
    formatFormAddress(path, { reference: {}, prefill: [], own: carried });
  // Only the sites in the form's `embed_origins` can frame a page with personal links. Without that setting,
  // the edit link opens outside the frame.
  const leavesFrame = look.isEmbedded && live.settings.embed_origins === undefined;
  const plain = new Map([...own].filter(([name]) => name === '_lang'));
  return renderConfirmation({
    formName: live.form.attrs.name,
    title: position !== undefined ? words.waitTitle : isChanged ? undefined : theme?.confirmation_title,
    message: isChanged
      ? words.changed
      : position === undefined
        ? settings.confirmation_message
        : fillTemplate(words.waitText, { position }),
    receipt: formatReference(receipt, theme),
    say: formatAnswer,
    edit:
      editPath === undefined
        ? undefined
        : {
            address: addressOf(editPath, leavesFrame ? plain : own),
            until: formatDay(editableUntil(live, receipt), locale),
            leavesFrame,
            mail: context.config.smtp && { ...mailResult, action: linkMailAddress(editPath, address) },
          },
    cancel:
      linkPath === undefined
        ? undefined
        : { address: addressOf(`${linkPath}/cancel`, leavesFrame ? plain : own), leavesFrame },
    pdf:
      live.settings.offer_pdf && pdfToken !== undefined
        ? { address: addressOf(pdfAddress(visit.path, pdfToken), plain), leavesFrame }
        : undefined,
    quiz: result && renderQuizResult({ result, words, numberLocale: visit.numberLocale }),
    certificate:
      quiz?.certificate && pdfToken !== undefined
        ? {
            address: addressOf(
              pdfAddress(visit.path, pdfToken),
              new Map([...plain, ['certificate', 'true']]),
            ),
            leavesFrame,
          }
        : undefined,
    onward: look.isEmbedded && isNew ? getRedirectUrl(settings, receipt) : undefined,
    again: isForOneResponse(live.settings) ? undefined : addressOf(visit.path),
    language,
    languages: languageLinks(visit, request),
    look,
    script: context.scriptSource,
    words,
  });
}

/** Returns the result of the quiz that a link opens, as long as the link works. */
async function findQuizResult(
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  { live, language, numberLocale, words }: Visit,
  token: string | undefined,
): Promise<StoredQuiz | undefined> {
  if (token === undefined || quizOf(live.form).scores.length === 0) return undefined;
  const { workspaceId, id: formId } = live;
  const id = readPdfLink(vault, { workspaceId, formId }, token);
  const [row] = id === undefined ? [] : await findForPdf(database, { workspace_id: workspaceId, id });
  return (
    row &&
    describeStoredQuiz(
      { ...row, form: formInLanguage(row.structure, language) },
      { language, numberLocale, words },
    )
  );
}

/** The receipt is the id of the submission, which includes its time (docs/decisions/0014). */
function editableUntil({ settings }: LiveForm, receipt: string): Date {
  return new Date(timeOfId(receipt).getTime() + editDaysOf(settings) * 86_400_000);
}
