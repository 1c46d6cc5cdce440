import { pointsOf, questionsOfScore, quizOf } from '#ast/answers/quiz.ts';
import { stripInlineMarkup } from '#ast/basics/inline-markup.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { quote } from '#ast/basics/problems.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import type { QuizQuestion } from '#ast/form/answer-key.ts';
import { elementDefinitions, formAttributes, isElementType, stepAttributes } from '#ast/form/elements.ts';
import { inputRules } from '#ast/form/input-rules.ts';
import { fillPipedWithLabels } from '#ast/form/piping.ts';
import {
  type Form,
  isInput,
  isVisibleToVisitors,
  languagesOf,
  optionsOf,
  type PlacedElement,
  placeholderOf,
  walkElements,
} from '#ast/form/tree.ts';
import { checkSettings, type Settings } from '#ast/settings.ts';
import { listTexts, untranslatedTexts } from '#ast/texts.ts';
import type { InputRules } from '#ast/types/rules.ts';
import { validateStructure } from '#ast/validate.ts';
import { completeErrorItem, type ErrorItem } from '#kit/errors.ts';
import { allowedTypos, mistakesBetween } from '#kit/nearest-names.ts';
import type { RequestScope } from '#kit/operation.ts';
import type { Queryable } from '#kit/statement.ts';
import { findMissingImages } from './images/images.ts';
import type { Judgement } from './shapes.ts';
import { findSlugProblems } from './slugs.ts';

type Warning = Judgement['warnings'][number];
type NodePosition = { readonly node: Readonly<Record<string, unknown>>; readonly path: readonly number[] };

const nodeNames = ['type', 'attrs', 'children'];
const optionNames = ['id', 'label', 'points', 'image', 'capacity', 'show_when'];
/** Prefixes that programs use for their own attributes. */
const customPrefix = /^(?:x[-_]|data[-_]|_)/i;
/** Names with fewer letters are too similar to guess from, such as `max` and `min`. */
const minNameLength = 4;

/**
 * Finds probable mistakes in a structure, valid or not: attribute names that look misspelled, and composites
 * without children. Other unknown names belong to the caller and cause no warning.
 */
function findSlips(structure: unknown): Warning[] {
  const found: Warning[] = [];
  const open: NodePosition[] = isRecord(structure) ? [{ node: structure, path: [] }] : [];
  for (
    let next = open.shift(), seen = 0;
    next && seen <= formLimits.elements;
    next = open.shift(), seen += 1
  ) {
    const { node, path } = next;
    const attrs = getProperty(node, 'attrs');
    const children = getProperty(node, 'children') ?? [];
    const type = getProperty(node, 'type');
    const warn = (rule: string, message: string): void => void found.push({ rule, message, path: [...path] });
    const check = (object: unknown, known: readonly string[], where: string): void => {
      if (!isRecord(object)) return;
      for (const name of Object.keys(object)) {
        const meant = suggestName(name, known);
        if (meant !== undefined)
          warn(
            'misspelt-attribute',
            `${where} has the unknown property ${quote(name)}. Did you mean ${quote(meant)}?`,
          );
      }
    };
    const name = nameOf(type, attrs);
    check(node, nodeNames, name);
    check(attrs, knownNames(type), name);
    for (const list of isRecord(attrs) ? [getProperty(attrs, 'options'), getProperty(attrs, 'rows')] : [])
      if (Array.isArray(list)) for (const option of list) check(option, optionNames, `An option of ${name}`);
    if (type === 'composite' && Array.isArray(children) && children.length === 0)
      warn('empty-composite', `${name} has no elements. Add an element or remove it.`);
    if (Array.isArray(children))
      for (const [index, child] of children.entries())
        if (isRecord(child)) open.push({ node: child, path: [...path, index] });
  }
  return found;
}

function knownNames(type: unknown): readonly string[] {
  if (type === 'form') return Object.keys(formAttributes);
  if (type === 'step') return Object.keys(stepAttributes);
  return isElementType(type) ? Object.keys(elementDefinitions[type].attrs) : [];
}

/**
 * Returns the known name that an unknown one probably means: another spelling of it, or one with a typo or
 * two.
 */
function suggestName(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name) || customPrefix.test(name) || name.length > longestKnown + 2) return undefined;
  const letters = fold(name);
  const near = known.map((each) => ({ each, mistakes: mistakesBetween(letters, fold(each)) }));
  const [best] = near.toSorted((one, other) => one.mistakes - other.mistakes);
  if (!best) return undefined;
  const isLongEnough = Math.min(letters.length, fold(best.each).length) >= minNameLength;
  return best.mistakes === 0 || (isLongEnough && best.mistakes <= allowedTypos(fold(best.each)))
    ? best.each
    : undefined;
}

/** `helpText`, `help-text` and `help_text` count as one name. */
const fold = (name: string): string => name.toLowerCase().replaceAll(/[_\-\s.]/g, '');

const longestKnown = 32;

function nameOf(type: unknown, attrs: unknown): string {
  const id = isRecord(attrs) ? getProperty(attrs, 'id') : undefined;
  if (typeof id === 'string') return quote(id);
  return `The ${isElementType(type) || type === 'step' ? type : 'form'}`;
}

/** Equal to the maximum number of problems that are reported for a structure (ast/basics/limits.ts). */
const mostWarnings = 100;

/** A form that is not validated yet, with its settings if they were sent. */
export type FormCandidate = {
  readonly structure: unknown;
  readonly settings?: unknown;
  /** The form that it changes, if it is known. */
  readonly formId?: string;
};

/**
 * Returns all problems that would prevent storing a form and its settings, with warnings about probable
 * mistakes. If there are no problems, it also warns about what makes the form hard to fill in. Stores
 * nothing.
 */
export async function judgeForm(
  db: Queryable,
  { workspaceId, sendsEmail }: Pick<RequestScope, 'workspaceId' | 'sendsEmail'>,
  { structure, settings, formId }: FormCandidate,
): Promise<Judgement> {
  const checked = validateStructure(structure);
  const problems: ErrorItem[] = checked.ok
    ? []
    : checked.errors.map((error) => ({ ...error, path: [...error.path] }));
  let known: Settings | undefined;
  if (settings !== undefined) {
    const read = checkSettings(settings, checked.ok ? checked.form : undefined);
    if (!read.ok) problems.push(...read.errors);
    else known = read.settings;
  }
  const form = checked.ok ? checked.form : undefined;
  problems.push(...(await findMissingImages(db, workspaceId, { settings: known, form })));
  if (formId !== undefined) problems.push(...(await findSlugProblems(db, known?.slug, formId)));
  // A misspelled name often causes a problem, so these warnings are returned together with problems.
  const slips = findSlips(structure);
  const others = checked.ok && problems.length === 0 ? findWarnings(checked.form, known, sendsEmail) : [];
  return {
    problems: problems.map(completeErrorItem),
    warnings: [...slips, ...others].slice(0, mostWarnings),
  };
}

/** With more options, a dropdown is quicker than buttons, which are read aloud one by one. */
const mostButtons = 7;

/**
 * Finds what is valid but makes a form impossible to submit or hard to use for people with disabilities, with
 * the path of each node.
 * Contrast is not included: themes with too little contrast are rejected (ast/theme/check-theme.ts).
 */
function findWarnings(form: Form, settings: Settings = {}, sendsEmail = true): Warning[] {
  return [
    ...untitledSteps(form),
    ...untranslated(form, settings),
    ...quizWarnings(form, settings),
    ...[...walkElements(form)].flatMap(warningsOf(form, sendsEmail)),
  ];
}

const englishNames = new Intl.DisplayNames(['en'], { type: 'language', languageDisplay: 'standard' });

/** The most characters of a text that a warning quotes. */
const quotedCharacters = 40;

/** Quotes a text as visitors read it: without marks, and with labels instead of placeholders. */
function quoteText(form: Form, text: string): string {
  const plain = stripInlineMarkup(fillPipedWithLabels(form, text)).replaceAll(/\s+/g, ' ').trim();
  const cut = Array.from(plain).slice(0, quotedCharacters).join('').trimEnd();
  return `“${cut}${cut.length < plain.length ? '…' : ''}”`;
}

/** How many missing translations a warning names. */
const namedTexts = 5;

/**
 * Returns a warning for each language with missing translations. Visitors read those texts in the form's own
 * language.
 */
function untranslated(form: Form, settings: Settings): Warning[] {
  const texts = listTexts({ structure: form, settings });
  return languagesOf(form)
    .slice(1)
    .flatMap((language): Warning[] => {
      const missing = untranslatedTexts(texts, language);
      if (missing.length === 0) return [];
      const named = missing.slice(0, namedTexts).map(({ text }) => quoteText(form, text));
      const more = missing.length - named.length;
      const which = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
      const count = `${missing.length} of ${texts.length} texts`;
      return [
        {
          rule: 'untranslated',
          message: `${count} are not translated into ${englishNames.of(language) ?? language}: ${which}.`,
          path: [],
        },
      ];
    });
}

/** Returns warnings about a quiz that cannot be passed or has no result. */
function quizWarnings(form: Form, settings: Settings): Warning[] {
  const { questions, scores } = quizOf(form);
  const warn = (rule: string, message: string, path: readonly number[] = []): Warning => ({
    rule,
    message,
    path: [...path],
  });
  const found = scores.flatMap((placed): Warning[] => {
    const { id, pass_mark: mark = 0 } = placed.element.attrs;
    const most = questionsOfScore(form, placed).reduce((sum, question) => sum + pointsOf(question), 0);
    if (most === 0)
      return [
        warn('score-without-questions', `${quote(id)} counts no question with a right answer.`, placed.path),
      ];
    const message = `The pass mark of ${quote(id)} is ${mark}, but its questions have only ${most} points.`;
    return mark > most ? [warn('unreachable-pass-mark', message, placed.path)] : [];
  });
  for (const { element, path } of questions)
    if (breaksLimits(element))
      found.push(
        warn(
          'impossible-right-answer',
          `The limits of ${quote(element.attrs.id)} exclude a right answer.`,
          path,
        ),
      );
  if (questions.length > 0 && scores.length === 0)
    found.push(
      warn('quiz-without-score', 'Questions have right answers, but no score counts them. Add a quiz score.'),
    );
  if (settings.certificate_name_element !== undefined && scores.length === 0)
    found.push(warn('certificate-without-score', 'The certificate needs a quiz score.'));
  if (questions.length > 0 && settings.quiz_results !== 'none' && settings.editing)
    found.push(
      warn(
        'editable-quiz',
        'Visitors can change their answers after they see their result. Turn off editing, or show no result.',
      ),
    );
  return found;
}

/** Returns whether the limits of a text or number refuse a right answer. Patterns take time and are left out. */
function breaksLimits({ type, attrs }: QuizQuestion): boolean {
  const { kind, check } = inputRules[type] as InputRules<object>;
  const context = { today: '2000-01-01', work: createWorkBudget() };
  return (
    (kind === 'text' || kind === 'number') &&
    attrs.correct.some((answer) => !check({ ...attrs, pattern: undefined }, answer, context).ok)
  );
}

function untitledSteps({ children: steps }: Form): Warning[] {
  if (steps.length < 2) return [];
  return steps.flatMap(({ attrs }, index) =>
    attrs?.title?.trim()
      ? []
      : [
          {
            rule: 'untitled-step',
            message: `Step ${index + 1} has no title. Add one, so that screen readers can announce the step.`,
            path: [index],
          },
        ],
  );
}

const untitledContent = (type: 'heading' | 'paragraph', path: readonly number[]): Warning => ({
  rule: 'empty-content',
  message: `The ${type} is empty. Give it a "label".`,
  path: [...path],
});

/** Normalizes a label. Case and outer spaces cannot be heard when it is read aloud. */
const normalizeSpokenLabel = (label: string): string => label.trim().toLowerCase();

function warningsOf(form: Form, sendsEmail: boolean): (placed: PlacedElement) => Warning[] {
  const seen = new Map<string, number>();
  const isLong = form.children.length > 1;
  return ({ element, path, parent }) => {
    if (element.type === 'heading' || element.type === 'paragraph')
      return element.attrs?.label?.trim() ? [] : [untitledContent(element.type, path)];
    if (!isInput(element) || !isVisibleToVisitors(element)) return [];
    const { label } = element.attrs;
    const placeholder =
      'placeholder' in elementDefinitions[element.type].attrs ? placeholderOf(element) : undefined;
    const place = `${path[0]} ${parent?.attrs.id ?? ''} ${normalizeSpokenLabel(label)}`;
    seen.set(place, (seen.get(place) ?? 0) + 1);
    const found: [rule: string, message: string][] = [];
    if (!/[\p{L}\p{N}]/u.test(label))
      found.push([
        'wordless-label',
        `The label ${quote(label)} has no words. Add some, so that screen readers can read it.`,
      ]);
    if (seen.get(place)! > 1)
      found.push([
        'repeated-label',
        `Another question of this ${isLong ? 'step' : 'form'} also has the label ${quote(label)}. People who use a screen reader cannot tell them apart.`,
      ]);
    if (placeholder !== undefined && normalizeSpokenLabel(placeholder) === normalizeSpokenLabel(label))
      found.push([
        'placeholder-as-label',
        `The placeholder of ${quote(label)} repeats its label. Remove it or replace it with an example.`,
      ]);
    else if (placeholder !== undefined && placeholder.length > 40 && element.attrs.help_text === undefined)
      found.push([
        'placeholder-as-help',
        `The placeholder of ${quote(label)} disappears when a visitor types. Use it as the help text instead.`,
      ]);
    if (element.type === 'email' && element.attrs.verify === true && !sendsEmail)
      found.push([
        'unverifiable',
        `Visitors cannot submit ${quote(label)}, because this server sends no emails with codes. Turn off \`verify\`, or set SMTP_URL.`,
      ]);
    if (element.type === 'radio' && optionsOf(element).length > mostButtons)
      found.push([
        'many-buttons',
        `${quote(label)} shows ${optionsOf(element).length} buttons. Use a dropdown, which is quicker with a keyboard or a screen reader.`,
      ]);
    return found.map(([rule, message]) => ({ rule, message, path: [...path] }));
  };
}
