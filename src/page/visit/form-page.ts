import type { FileAnswer } from '#ast/answers.ts';
import type { RawAnswers } from '#ast/fields.ts';
import { type Condition, comparisonsOf } from '#ast/logic/condition.ts';
import { evaluate } from '#ast/logic/evaluate.ts';
import { offersIn } from '#ast/logic/offers.ts';
import { isPiped } from '#ast/piping.ts';
import { type Form, isAsked, isInput, optionsIn, walkElements } from '#ast/tree.ts';
import { spend } from '#ast/work.ts';
import { fileLimits } from '#files/stored-files.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { invitationParameter } from '#invitations/admission.ts';
import { newId } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { openSharedPage, type Page } from '#kit/packing.ts';
import type { Vault } from '#kit/vault.ts';
import { makeKey } from '#submissions/submission-keys.ts';
import { entryParameter } from '../admission.ts';
import { notBegun, visitControl, writeCourse } from '../counting/course.ts';
import type { HeldFiles } from '../post/held-files.ts';
import type { Social } from '../render/document.ts';
import { renderForm } from '../render/form.ts';
import { drawingSteps } from '../render/steps.ts';
import { type FieldMessage, type FormView, type ScriptData, scriptWords } from '../render/view.ts';
import { proofBits } from '../screening.ts';
import { imageAddress } from '../theme/look.ts';
import { sentencesFor } from '../words/say-problem.ts';
import type { Words } from '../words/words.ts';
import { addressIn, writeAddress } from './address.ts';
import type { Visit } from './visit.ts';

/** The page that the script is told of. `path` is where it posts to. */
type ShownPage = {
  readonly step: number;
  readonly path: string;
  readonly saves: boolean;
  readonly isEdit: boolean;
};

/** What the page tells its script about this visit. */
function scriptDataOf(
  { live, words, sentences, numbers, context, address }: Visit,
  { step, path, saves, isEdit }: ShownPage,
): ScriptData {
  const offers = offersIn(live.form);
  // What opens the form opens the way for its files.
  const admitting = [...address.own].filter(
    ([name]) => name === invitationParameter || name === entryParameter,
  );
  return {
    form: live.form,
    sentences: sentencesFor(live.form, sentences, offers),
    numbers,
    words: scriptWords(words),
    today: context.today,
    reference: namedReference(live.form, context.reference),
    limits: fileLimits,
    step,
    upload: writeAddress(`${path}/files`, { reference: {}, prefill: [], own: new Map(admitting) }),
    ...(saves && { saves }),
    ...(live.settings.review_step && {
      review: pick(words, ['change', 'noAnswer', 'row', 'yes', 'no']),
    }),
    ...(offers && { offers }),
    ...(isPiped(live.form) && { piping: pick(words, ['yes', 'no']) }),
    ...(live.settings.layout === 'question' && { singly: pick(words, ['newLine']) }),
    // What is changed was screened when it came.
    ...(live.settings.proof_of_work && !isEdit && { proof: proofBits }),
  };
}

const pick = <Name extends keyof Words>(words: Words, names: readonly Name[]): Pick<Words, Name> =>
  Object.fromEntries(names.map((name) => [name, words[name]])) as Pick<Words, Name>;

/** The reference values that a condition of the form looks at. */
function namedReference(form: Form, reference: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set<string>();
  for (const condition of conditionsOf(form)) {
    for (const comparison of comparisonsOf(condition)) {
      if ('reference' in comparison) names.add(comparison.reference);
    }
  }
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
    if (isInput(element) && isAsked(element) && element.attrs.require_when) yield element.attrs.require_when;
    for (const { show_when: condition } of optionsIn(element).values()) if (condition) yield condition;
  }
  for (const { attrs } of form.children) {
    for (const { when } of attrs?.jumps ?? []) if (when) yield when;
  }
}

/** What drawing a form's page needs. */
export type DrawingContext = {
  readonly vault: Vault;
  readonly heldFiles: HeldFiles;
  readonly config: Pick<Config, 'publicUrl'>;
  /** Where the page's script is; undefined when it was not built. */
  readonly scriptSource: string | undefined;
};

/** What one showing of a page shows. The rest follows from the visit. */
export type Showing = {
  readonly raw: RawAnswers;
  readonly errors: readonly FieldMessage[];
  readonly held: ReadonlyMap<string, readonly FileAnswer[]>;
  /** The index of the step; the first that can be reached when there is none. */
  readonly step?: number | undefined;
  /** The text of the control `_key`: the same one from the first view to the submission. */
  readonly key: string;
  /** The token of the link by which a submission is changed: the page then posts there, and not to the form. */
  readonly editToken?: string | undefined;
  /** How far the visit has come, as it is counted (counting/course.ts); undefined where it is not. */
  readonly course: string | undefined;
} & Pick<FormView, 'focus' | 'notice' | 'done' | 'submitText' | 'hidden' | 'known'>;

/** The text of a form's page. @throws TooMuchWork */
export function formPage(context: DrawingContext, visit: Visit, showing: Showing): string {
  const { live, words, sentences, numbers, language, languages, look } = visit;
  const { raw, errors, held, key, editToken, course, ...more } = showing;
  const isEdit = editToken !== undefined;
  const path = isEdit ? `/f/${live.id}/edit/${editToken}` : `/f/${live.id}`;
  // What was submitted has its reference, and is not saved for later.
  const address = isEdit ? { ...visit.address, reference: {} } : visit.address;
  const saves = live.settings.save_progress === true && !isEdit;
  spend(visit.context.work, drawingSteps(live.form, raw, held));
  const shown = evaluate(live.form, raw, visit.context, held);
  const step = Math.min(showing.step ?? shown.steps[0] ?? 0, live.form.children.length - 1);
  const { scriptSource } = context;
  return renderForm({
    ...more,
    form: live.form,
    action: writeAddress(path, address),
    edit: isEdit,
    asksSingly: live.settings.layout === 'question',
    values: raw,
    errors,
    held: namedHeld(context.heldFiles, live, held),
    language,
    otherLanguages:
      languages.length > 1 ? { language, languages, addressIn: addressIn(path, address) } : undefined,
    look,
    words,
    sentences,
    numbers,
    submitText: more.submitText ?? live.settings.theme?.submit_label,
    social: socialOf(live, context.config.publicUrl),
    limits: fileLimits,
    places: visit.places,
    pictureOf: (id) => ({ address: imageAddress(live.id, id), size: live.pictures.get(id) }),
    step,
    shown,
    today: visit.context.today,
    saves,
    hidden: [
      ['_key', key],
      [onceName(key), ''],
      ...(course !== undefined && visit.isCounted ? [[visitControl, course] as const] : []),
      ...(showing.hidden ?? []),
    ],
    script:
      scriptSource === undefined
        ? undefined
        : {
            source: scriptSource,
            data: scriptDataOf(visit, { step, path, saves, isEdit }),
          },
  });
}

/** What sites that show a link to the form are told, where its theme says anything of it. */
function socialOf({ id, form, settings, pictures }: LiveForm, publicUrl: string): Social | undefined {
  const { social_title: title = form.attrs.name, social_image: image } = settings.theme ?? {};
  if (settings.theme?.social_title === undefined && image === undefined) return undefined;
  return {
    title,
    image:
      image === undefined
        ? undefined
        : { address: `${publicUrl}${imageAddress(id, image)}`, size: pictures.get(image) },
  };
}

function namedHeld(
  heldFiles: HeldFiles,
  live: LiveForm,
  held: ReadonlyMap<string, readonly FileAnswer[]>,
): FormView['held'] {
  const named = (name: string, { id, filename, size, content_type }: FileAnswer) => ({
    token: heldFiles.token(live, name, id),
    filename,
    size,
    content_type,
  });
  return new Map([...held].map(([name, files]) => [name, files.map((file) => named(name, file))]));
}

/**
 * Names a control that no other showing of the page has. Browsers put what was typed back into a page that is gone back
 * to when it looks the same (its address and its first controls); on a shared computer that would be another's answers.
 */
const onceName = (key: string): string => `_once-${key.slice(24, 36)}`;

/** Stands for the key in a page that is drawn once for many visitors. Nothing that an author writes can be it. */
const keyPlace = newId();

type WithKey = (key: string) => Page;
const firstPages = new WeakMap<Form, Map<string, WithKey>>();
/** Of one version of a form: its languages, on one day. */
const keptPages = 16;

/**
 * The page as a visitor without parameters first sees it: between two visitors only the key differs, so it is drawn
 * once for each version, its settings, the language, the day and the places that are left.
 */
export function firstPage(context: DrawingContext, visit: Visit): Page {
  const { live, language, locale, numbers, isCounted, places } = visit;
  const known = firstPages.get(live.form) ?? new Map<string, WithKey>();
  firstPages.set(live.form, known);
  const { today } = visit.context;
  const { scriptSource } = context;
  const left = [...places.values()].map((options) => [...options.values()]);
  const name = JSON.stringify([
    language,
    locale,
    numbers,
    today,
    isCounted,
    scriptSource,
    live.settings,
    left,
  ]);
  let withKey = known.get(name);
  if (!withKey) {
    const page = formPage(context, visit, {
      raw: {},
      errors: [],
      held: new Map(),
      key: keyPlace,
      course: writeCourse(notBegun),
    });
    // The key, and behind it the name that is made of it.
    const [from, to] = [page.indexOf(keyPlace), page.indexOf(onceName(keyPlace)) + onceName(keyPlace).length];
    const own = (key: string): string =>
      page.slice(from, to).replace(keyPlace, key).replace(onceName(keyPlace), onceName(key));
    const shared = openSharedPage(page.slice(0, from), page.slice(to));
    withKey = (key) => shared(own(key));
    if (known.size >= keptPages) known.clear();
    known.set(name, withKey);
  }
  return withKey(makeKey(context.vault, live));
}
