import { isDeepStrictEqual } from 'node:util';
import type { FileAnswer } from '#ast/answers/check-answers.ts';
import { type Condition, comparisonsOf } from '#ast/basics/condition.ts';
import { spendWork } from '#ast/basics/work.ts';
import { formHasConditionalOptions } from '#ast/form/conditional-options.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import { isPiped } from '#ast/form/piping.ts';
import { type Form, inputOptionsById, isAnsweredByVisitor, isInput, walkElements } from '#ast/form/tree.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import { fileLimitsOf } from '#files/stored-files.ts';
import { publicOriginOf } from '#forms/form-rows.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { invitationParameter } from '#invitations/admission.ts';
import { newId } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { createPageTemplate, type PageContent } from '#kit/replies/compression.ts';
import type { Vault } from '#kit/vault.ts';
import { createSubmissionKey } from '#submissions/submission-keys.ts';
import { listVerifiedElements } from '#submissions/verified.ts';
import type { LinkPreview } from '../markup/document.ts';
import type { FileLimits } from '../render/elements/element-context.ts';
import { firstInputNameIn } from '../render/elements/groups.ts';
import { renderForm } from '../render/form.ts';
import { renderingCost } from '../render/steps.ts';
import { type FieldMessage, type FormPageView, type ScriptData, scriptWords } from '../render/view.ts';
import { imageAddress } from '../theme/image-address.ts';
import { selectProblemSentences } from '../words/format-problem.ts';
import type { Words } from '../words/words.ts';
import { addressInLanguage, formatFormAddress } from './address.ts';
import { embedAdmissionParameter } from './admission.ts';
import type { KeptFiles } from './kept-files.ts';
import { proofBits } from './screening.ts';
import { skipPrefilledQuestions } from './skipped-questions.ts';
import type { Visit } from './visit.ts';
import { formatVisitProgress, noVisitProgress, visitControl } from './visit-progress.ts';

/** The shown page, as the script needs it. `path` is the URL path that it posts to. */
type ShownPage = {
  readonly step: number;
  readonly path: string;
  readonly saves: boolean;
  readonly isEdit: boolean;
  readonly limits: FileLimits;
};

/** Returns the data for the page's script. */
function scriptDataOf(
  { live, words, sentences, numberLocale, context, address, skipped }: Visit,
  { step, path, saves, isEdit, limits }: ShownPage,
): ScriptData {
  const offers = formHasConditionalOptions(live.form);
  // Uploads also need the parameters that admit the visitor.
  const admitting = [...address.own].filter(
    ([name]) => name === invitationParameter || name === embedAdmissionParameter,
  );
  return {
    form: live.form,
    sentences: selectProblemSentences(live.form, sentences, offers),
    numberLocale,
    words: scriptWords(words),
    today: context.today,
    reference: namedReference(live.form, context.reference),
    limits,
    step,
    upload: formatFormAddress(`${path}/files`, { reference: {}, prefill: [], own: new Map(admitting) }),
    ...(Object.keys(skipped).length > 0 && { skipped }),
    ...(saves && { saves }),
    ...(live.settings.review_step && {
      review: pick(words, ['change', 'noAnswer', 'row', 'yes', 'no', 'signed']),
    }),
    ...(offers && { offers }),
    ...(isPiped(live.form) && { piping: pick(words, ['yes', 'no']) }),
    ...(live.settings.layout === 'question' && { singly: pick(words, ['newLine']) }),
    // An edited submission was already screened.
    ...(live.settings.proof_of_work && !isEdit && { proof: proofBits }),
  };
}

const pick = <Name extends keyof Words>(words: Words, names: readonly Name[]): Pick<Words, Name> =>
  Object.fromEntries(names.map((name) => [name, words[name]])) as Pick<Words, Name>;

/** Returns only the reference data that the form's conditions use. */
function namedReference(form: Form, reference: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set<string>();
  for (const condition of conditionsOf(form))
    for (const comparison of comparisonsOf(condition))
      if ('reference' in comparison) names.add(comparison.reference);
  return Object.fromEntries(Object.entries(reference).filter(([name]) => names.has(name)));
}

type Logic = Readonly<Partial<Record<'show_when' | 'hide_when', Condition | undefined>>>;

function* conditionsOf(form: Form): Generator<Condition, void> {
  const elements = [...walkElements(form)].map(({ element }) => element);
  for (const { attrs } of [...form.children, ...elements]) {
    const { show_when, hide_when }: Logic = attrs ?? {};
    for (const condition of [show_when, hide_when]) if (condition) yield condition;
  }
  for (const element of elements) {
    if (isInput(element) && isAnsweredByVisitor(element))
      for (const name of ['require_when', 'valid_when'] as const)
        if (element.attrs[name]) yield element.attrs[name];
    for (const { show_when: condition } of inputOptionsById(element).values()) if (condition) yield condition;
  }
  for (const { attrs } of form.children) for (const { when } of attrs?.jumps ?? []) if (when) yield when;
}

/** Dependencies for rendering a form's page. */
export type RenderPageServices = {
  readonly vault: Vault;
  readonly heldFiles: KeptFiles;
  readonly config: Pick<Config, 'publicUrl' | 'limits'>;
  /** The URL of the page's script; undefined if it was not built. */
  readonly scriptSource: string | undefined;
};

/** The code that a page asks for, by its id, or the token of the verified address. */
export type CodeState = { readonly sent: string } | { readonly token: string };

/** Returns the hidden control that keeps the state. A page that asks for a code has a visible `_code`. */
const codeControl = (element: string, state: CodeState | undefined): [name: string, value: string] =>
  state && 'sent' in state ? [`_sent[${element}]`, state.sent] : [`_code[${element}]`, state?.token ?? ''];

/** The parts of a page that cannot be derived from the visit. */
export type FormPageContent = {
  readonly raw: RawAnswers;
  readonly errors: readonly FieldMessage[];
  readonly files: ReadonlyMap<string, readonly FileAnswer[]>;
  /** The index of the step; by default, the first reachable one. */
  readonly step?: number | undefined;
  /** The value of the control `_key`, which stays the same from the first page to the submission. */
  readonly key: string;
  /** The token of an edit link. If set, the page posts to that link instead of the form. */
  readonly editToken?: string | undefined;
  /** The state of each email element that must be verified (post/email-codes.ts). */
  readonly codes?: ReadonlyMap<string, CodeState>;
  /** Progress of the visit for counting (visit-progress.ts); undefined if it is not counted. */
  readonly course: string | undefined;
} & Pick<FormPageView, 'focus' | 'notice' | 'done' | 'submitText' | 'hidden' | 'known'>;

/** Renders a form's page. @throws TooMuchWork */
export function formPage(context: RenderPageServices, given: Visit, showing: FormPageContent): string {
  const visit = showChangedQuestions(given, showing);
  const { live, words, sentences, numberLocale, language, languages, look } = visit;
  const {
    raw,
    errors,
    files,
    key,
    editToken,
    course,
    codes = new Map<string, CodeState>(),
    ...more
  } = showing;
  const isEdit = editToken !== undefined;
  const path = isEdit ? `${visit.path}/edit/${editToken}` : visit.path;
  // A submission already has its reference data, and cannot be saved for later.
  const address = isEdit ? { ...visit.address, reference: {} } : visit.address;
  const saves = live.settings.save_progress === true && !isEdit;
  spendWork(visit.context.work, renderingCost(live.form, raw, files));
  const shown = evaluateVisibility(live.form, raw, visit.context, files);
  const step = Math.min(showing.step ?? shown.steps[0] ?? 0, live.form.children.length - 1);
  const { scriptSource } = context;
  const limits = fileLimitsOf(context.config);
  const asksSingly = live.settings.layout === 'question';
  // A frame must not take the focus of the page around it.
  const opensQuestion = asksSingly && !look.isEmbedded;
  return renderForm({
    ...more,
    focus:
      more.focus ?? (opensQuestion ? firstInputNameIn(live.form.children[step]?.children ?? []) : undefined),
    form: live.form,
    action: formatFormAddress(path, address),
    edit: isEdit,
    asksSingly,
    values: raw,
    errors,
    files: signKeptFiles(context.heldFiles, live, files),
    language,
    otherLanguages:
      languages.length > 1 ? { language, languages, addressIn: addressInLanguage(path, address) } : undefined,
    look,
    words,
    sentences,
    numberLocale,
    submitText: more.submitText ?? live.settings.theme?.submit_label,
    social: socialOf(live, publicOriginOf(context.config, live)),
    limits,
    places: visit.places,
    hasWaitingList: live.settings.waiting_list === true && !isEdit,
    waitNotice: visit.isWaiting && !isEdit ? words.waitNotice : undefined,
    cancelLink: isEdit
      ? { address: formatFormAddress(`${path}/cancel`, address), text: words.cancelLink }
      : undefined,
    pictureOf: (id) => ({ address: imageAddress(live.id, id), size: live.pictures.get(id) }),
    step,
    shown,
    asks: new Set([...codes].flatMap(([id, state]) => ('sent' in state ? [id] : []))),
    today: visit.context.today,
    saves,
    hidden: [
      ['_key', key],
      [uniqueControlName(key), ''],
      ...(course !== undefined && visit.isCounted ? [[visitControl, course] as const] : []),
      ...listVerifiedElements(live.form).map(({ attrs: { id } }) => codeControl(id, codes.get(id))),
      ...(showing.hidden ?? []),
    ],
    script:
      scriptSource === undefined
        ? undefined
        : { source: scriptSource, data: scriptDataOf(visit, { step, path, saves, isEdit, limits }) },
  });
}

/** Returns the visit without skipping questions that have an error, or another answer after one. */
function showChangedQuestions(visit: Visit, { raw, errors }: FormPageContent): Visit {
  const isChanged = (id: string): boolean =>
    Object.hasOwn(raw, id) && !isDeepStrictEqual(raw[id], visit.skipped[id]);
  const fields = [...errors.map(({ field }) => field), ...Object.keys(visit.skipped).filter(isChanged)];
  if (!fields.some((field) => Object.hasOwn(visit.skipped, field))) return visit;
  const { form, ...skipping } = skipPrefilledQuestions(visit.live.form, visit.address, visit.context, fields);
  return { ...visit, ...skipping, live: { ...visit.live, form } };
}

/** Returns the link preview for other sites, if the form's theme defines one. */
function socialOf({ id, form, settings, pictures }: LiveForm, origin: string): LinkPreview | undefined {
  const { social_title: title = form.attrs.name, social_image: image } = settings.theme ?? {};
  if (settings.theme?.social_title === undefined && image === undefined) return undefined;
  return {
    title,
    image:
      image === undefined
        ? undefined
        : { address: `${origin}${imageAddress(id, image)}`, size: pictures.get(image) },
  };
}

function signKeptFiles(
  heldFiles: KeptFiles,
  live: LiveForm,
  files: ReadonlyMap<string, readonly FileAnswer[]>,
): FormPageView['files'] {
  const sign = (name: string, { id, ...file }: FileAnswer) => ({
    token: heldFiles.token(live, name, id),
    ...file,
  });
  return new Map([...files].map(([name, list]) => [name, list.map((file) => sign(name, file))]));
}

/**
 * Returns a control name that is unique to one rendering. When going back to a page whose URL and first
 * controls are unchanged, browsers restore typed values. On a shared computer, those could be another
 * person's answers.
 */
const uniqueControlName = (key: string): string => `_once-${key.slice(24, 36)}`;

/**
 * A placeholder for the key in a page that is rendered once for many visitors. It is random, so no author's
 * text contains it.
 */
const keyPlaceholder = newId();

type PageForKey = (key: string) => PageContent;
const firstPages = new WeakMap<Form, Map<string, PageForKey>>();
/** The maximum number of cached pages per version, for its languages on one day. */
const pageCacheSize = 16;

/**
 * Renders the first page for a visitor without URL parameters. Only the key differs between visitors, so the
 * page is cached by version, settings, language, day and remaining quotas.
 */
export function renderFirstPage(context: RenderPageServices, visit: Visit): PageContent {
  const { live, language, locale, numberLocale, isCounted, places, isWaiting } = visit;
  const known = firstPages.get(live.form) ?? new Map<string, PageForKey>();
  firstPages.set(live.form, known);
  const { today } = visit.context;
  const { scriptSource } = context;
  const left = [...places.values()].map((options) => [...options.values()]);
  const name = JSON.stringify([
    language,
    locale,
    numberLocale,
    today,
    isCounted,
    scriptSource,
    live.settings,
    live.domain,
    visit.path,
    left,
    isWaiting,
  ]);
  let withKey = known.get(name);
  if (!withKey) {
    const page = formPage(context, visit, {
      raw: {},
      errors: [],
      files: new Map(),
      key: keyPlaceholder,
      course: formatVisitProgress(noVisitProgress),
    });
    const once = uniqueControlName(keyPlaceholder);
    // The range from the key to the end of the unique control name, which includes part of the key.
    const [from, to] = [page.indexOf(keyPlaceholder), page.indexOf(once) + once.length];
    const own = (key: string): string =>
      page.slice(from, to).replace(keyPlaceholder, key).replace(once, uniqueControlName(key));
    const shared = createPageTemplate(page.slice(0, from), page.slice(to));
    withKey = (key) => shared(own(key));
    if (known.size >= pageCacheSize) known.clear();
    known.set(name, withKey);
  }
  return withKey(createSubmissionKey(context.vault, live));
}
