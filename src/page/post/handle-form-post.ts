import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnswerError, FieldProblem } from '#ast/answers/check-answers.ts';
import { parseGroupFieldName, parseMatrixRowName, type RawAnswers } from '#ast/form/fields.ts';
import { formIndexOf } from '#ast/form/form-index.ts';
import type { Form } from '#ast/form/tree.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import { ApiError, errorCodes } from '#kit/errors.ts';
import { findRemainingQuotas } from '#submissions/quotas.ts';
import { isSubmissionKeyUsed } from '#submissions/repeat.ts';
import { requireStorableReference } from '#submissions/submit-request.ts';
import { applyMove } from '../render/elements/ranking-moves.ts';
import { languageActionPrefix } from '../render/language-switch.ts';
import type { FieldMessage } from '../render/view.ts';
import { formatFormAddress } from '../visit/address.ts';
import type { Refusal } from '../visit/admission.ts';
import { FormRefusedError, type Visit } from '../visit/visit.ts';
import { formatVisitProgress } from '../visit/visit-progress.ts';
import { formatProblemForVisitor, isCausedByOtherPages } from '../words/format-problem.ts';
import { isFormClosed } from './accept-answers.ts';
import { getControlValue, getSeenMarks } from './controls.ts';
import { countPostProgress, redirectsOf, wantsJson } from './handle-json-post.ts';
import {
  discardInvalidFiles,
  type PagePost,
  type RedisplayedPage,
  readPagePost,
  renderPageAgain,
} from './page-post.ts';
import type { PostServices } from './post-context.ts';
import { sendPage } from './problem-page.ts';
import { discardReceived } from './read-post.ts';
import { findFieldStep, firstWrongStep, resolveStep } from './resolve-step.ts';
import { applyRowAction, type PageAction, readPageAction } from './row-action.ts';
import { verifyPostedEmails } from './verify-emails.ts';

/** The maximum number of reference values. The API has the same limit (submissions/endpoints.ts). */
const mostValues = 200;
const longestValue = 8_192;
/** Common names of buttons in HTML forms. */
const buttons: readonly string[] = ['submit', 'button'];

/**
 * Moves fields of an HTML form that are not questions into the reference data, and drops buttons. A field
 * that names an element or exceeds the limits of reference data stays in the answers, where validation
 * rejects it.
 */
function extractUnknownFields(
  form: Form,
  raw: RawAnswers,
): { raw: RawAnswers; reference: Record<string, string> } {
  const { byId } = formIndexOf(form);
  const isKnown = (name: string): boolean => {
    const field = parseMatrixRowName(name)?.field ?? name;
    return byId.has(name) || byId.has(field) || byId.has(parseGroupFieldName(field)?.group ?? '');
  };
  const unknown = Object.entries(raw).filter(([name]) => !isKnown(name));
  const reference = unknown
    .filter(([name]) => !buttons.includes(name))
    .flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' && value.length <= longestValue && name.length <= longestValue
        ? [[name, value]]
        : [],
    )
    .slice(0, mostValues);
  const moved = new Set([...buttons, ...reference.map(([name]) => name)]);
  const remaining = Object.entries(raw).filter(([name]) => isKnown(name) || !moved.has(name));
  return {
    raw: Object.assign(Object.create(null) as RawAnswers, Object.fromEntries(remaining)),
    reference: Object.fromEntries(reference),
  };
}

/** What a page does when it is sent: it creates a submission or changes one. */
export type PostCompletion = {
  /** Returns what to add to a page that is shown again after a post. */
  showing(post: PagePost): Pick<RedisplayedPage, 'editToken' | 'submitText' | 'hidden'>;
  /** The submission whose files the page may keep. */
  readonly submissionId?: string;
  /** The answers before an edit. */
  readonly stored?: RawAnswers;
  /**
   * Stores the answers and sends the response. If the answers are invalid, returns their errors and sends
   * nothing.
   */
  finish(post: PagePost): Promise<readonly AnswerError[]>;
  /** Saves the answers for later, and sends the response. */
  save(post: PagePost): Promise<void>;
};

/** Everything needed to answer one post of a page. */
type FormPost = {
  readonly context: PostServices;
  readonly visit: Visit;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly ending: PostCompletion;
};

/**
 * Answers an HTML form's post with the next step, the errors, or the page's ending. When it returns, the
 * response has been sent.
 */
export async function handleFormPost({
  endingOf,
  ...formPost
}: Omit<FormPost, 'ending'> & { endingOf: (visit: Visit) => PostCompletion }): Promise<void> {
  const { context, request } = formPost;
  const { submissionId } = endingOf(formPost.visit);
  const sent = await readPagePost(context, formPost.visit, request, submissionId);
  // Our page contains only the fields of its form. A custom HTML page may have more; they become reference
  // data, like URL parameters.
  const isForeign = sent.step === undefined && submissionId === undefined;
  const { visit, post } = isForeign
    ? withUnknownFields(formPost.visit, sent)
    : { visit: formPost.visit, post: sent };
  try {
    await performAction({ ...formPost, visit, ending: endingOf(visit) }, post);
  } catch (error) {
    // A rejected submission leaves no files behind. Files of an existing submission are not affected.
    await discardReceived(context, visit.live, post.received);
    throw error;
  }
}

/** Values from the URL and the invitation take precedence over a field with the same name. */
function withUnknownFields(visit: Visit, sent: PagePost): { visit: Visit; post: PagePost } {
  const { raw, reference: fields } = extractUnknownFields(visit.live.form, sent.raw);
  if (Object.keys(fields).length === 0) return { visit, post: { ...sent, raw } };
  requireStorableReference(fields);
  const reference = { ...fields, ...visit.reference };
  return { visit: { ...visit, reference, context: { ...visit.context, reference } }, post: { ...sent, raw } };
}

/** Performs the action of the pressed button. */
async function performAction(answering: FormPost, posted: PagePost): Promise<void> {
  const { context, visit, request, ending } = answering;
  const action = readPageAction(posted.controls);
  const goesOn = action.kind === 'next' || action.kind === 'submit';
  const post = goesOn ? await verifyPostedEmails(context, visit, request, posted, ending.stored) : posted;
  const { step, problems } = post;
  if (isFormClosed(visit) && ending.submissionId === undefined)
    return performClosedAction(answering, post, visit.refusal, action);
  if (action.kind === 'add' || action.kind === 'remove') {
    const { raw, files, focus } = applyRowAction(action, post.raw, post.files);
    return show(answering, { ...post, raw, files }, { step, errors: problems, focus });
  }
  if (action.kind === 'move') {
    const focus = applyMove(visit.live.form, post.raw, action.move);
    return show(answering, post, { step, errors: problems, focus });
  }
  // The URL names the new language, so the visit already uses it.
  if (action.kind === 'language')
    return show(answering, post, { step, errors: problems, focus: languageActionPrefix });
  if (action.kind === 'save') {
    if (!wantsJson(request)) countPostProgress(context, visit, request, post);
    // The script keeps saving by itself and shows file problems. Without the script, the visitor must see
    // them before leaving.
    if (problems.length === 0 || wantsJson(request)) return ending.save(post);
    return showWithErrors(answering, post, firstWrongStep(visit.live.form, problems, step ?? 0));
  }
  const { form } = visit.live;
  if (action.kind === 'change') {
    const shown = evaluateVisibility(form, post.raw, visit.context, post.files);
    const led = findFieldStep({ ...post, form, shown, context: visit.context }, action.field);
    return show(answering, post, led ?? { step, errors: problems });
  }
  // A client that accepts JSON handles the steps on its side and sends everything in one request.
  if (step === undefined || wantsJson(request)) return finish(answering, post);
  const result = resolveStep({
    form,
    raw: post.raw,
    files: post.files,
    context: visit.context,
    step,
    go: action.kind,
    seen: getSeenMarks(post.controls),
    known: getControlValue(post.controls, '_known'),
    problems,
    say: problemFormatter(visit),
  });
  if (result.kind === 'submit') return finish(answering, post);
  return showWithErrors(answering, post, { ...result, notice: result.notice && visit.words[result.notice] });
}

/**
 * Handles a post to a closed form: repeats the response to an earlier submission with this key, and refuses
 * everything else.
 */
async function performClosedAction(
  { visit, ending }: FormPost,
  post: PagePost,
  refusal: Refusal,
  action: PageAction,
): Promise<void> {
  const errors =
    action.kind === 'submit' && post.problems.length === 0 ? await ending.finish(post) : undefined;
  if (errors?.length !== 0) throw new FormRefusedError(refusal, visit.live);
}

/** Describes a broken rule in the language of the page. */
const problemFormatter =
  ({ locale, sentences, words, numberLocale }: Visit) =>
  ({ field, problem }: FieldProblem): FieldMessage => ({
    field,
    message: formatProblemForVisitor(problem, { language: locale, sentences, words, numberLocale }),
  });

/**
 * Describes an error in the language of the page. An error without a rule keeps its own message. So does an
 * error that our page cannot cause, in a post from another page. The page's script needs the code of an address
 * that is not verified: the page must then ask for it.
 */
const answerErrorFormatter =
  (visit: Visit, { step }: PagePost) =>
  ({ field, message, problem, code }: AnswerError): FieldMessage & Pick<AnswerError, 'code'> =>
    problem && !(step === undefined && isCausedByOtherPages(problem.rule))
      ? { ...problemFormatter(visit)({ field, problem }), ...(code === 'not_verified' && { code }) }
      : { field, message };

async function finish(answering: FormPost, post: PagePost): Promise<void> {
  const { visit, request, ending } = answering;
  const errors =
    post.problems.length > 0
      ? post.problems
      : (await ending.finish(post)).map(answerErrorFormatter(visit, post));
  if (errors.length === 0) return;
  if (wantsJson(request)) throw new ApiError('validation_error', undefined, { errors });
  // Other visitors may have used up a quota in the meantime.
  const places = await findRemainingQuotas(answering.context.database, visit.live);
  const now = { ...answering, visit: { ...visit, places } };
  await showWithErrors(now, post, firstWrongStep(visit.live.form, errors, post.step ?? 0));
}

async function showWithErrors(answering: FormPost, post: PagePost, again: RedisplayedPage): Promise<void> {
  const { context, visit } = answering;
  await show(answering, await discardInvalidFiles(context, visit, post, again.errors), again);
}

async function show(
  { context, visit, request, reply, ending }: FormPost,
  post: PagePost,
  again: RedisplayedPage,
): Promise<void> {
  // A post from a page that was already submitted may come from another person, so it gets a new page.
  if (
    ending.submissionId === undefined &&
    (await isSubmissionKeyUsed(context.database, visit.live, post.key))
  ) {
    await discardReceived(context, visit.live, post.received);
    reply.redirect(formatFormAddress(visit.path, visit.address), 303);
    return;
  }
  const status = again.errors.length > 0 ? errorCodes.validation_error.status : 200;
  const counted = countPostProgress(context, visit, request, post, again.step);
  const page = renderPageAgain(context, visit, post, {
    ...ending.showing(post),
    ...again,
    ...(counted && { course: formatVisitProgress(counted) }),
  });
  sendPage(reply, status, page, visit.look, redirectsOf(visit.live.settings));
}
