import type { ComparisonOperator, Condition } from '#ast/basics/condition.ts';
import { type Option, optionIdOf } from '#ast/basics/options.ts';
import type { Sketch, SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';

export type PlainValue = string | number | boolean;

/** An element that conditions refer to, and how they name its answers. */
export type ReferencedElement = {
  readonly node: SketchNode;
  /** The values for yes and no. */
  readonly yes?: string;
  readonly no?: string;
  /** Our option ids by those of the service. If omitted, the ids are equal. */
  readonly choices?: Map<string, string>;
  /** Our row ids of a matrix by those of the service. */
  readonly rows?: ReadonlyMap<string, string>;
};

/** The value in `choices` that stands for free text instead of an option. */
export const otherAnswerKey = '\u0000other';

/**
 * Returns our operators by the operators of a service. `words`: for each of our operators, the service's
 * operators, separated by spaces.
 */
export const mapOperators = (
  words: Readonly<Partial<Record<ComparisonOperator, string>>>,
): Readonly<Record<string, ComparisonOperator>> =>
  Object.fromEntries(
    (Object.entries(words) as [ComparisonOperator, string][]).flatMap(([ours, theirs]) =>
      theirs.split(' ').map((each) => [each, ours]),
    ),
  );

/** Joins conditions. @returns undefined if there are none, or if one of them has no equivalent. */
export function combineConditions(
  kind: 'all' | 'any',
  conditions: readonly (Condition | undefined)[],
): Condition | undefined {
  const parts = conditions.filter((each) => each !== undefined);
  if (parts.length < conditions.length) return undefined;
  if (parts.length < 2) return parts[0];
  return kind === 'all' ? { all: parts } : { any: parts };
}

export const negateCondition = (condition: Condition | undefined): Condition | undefined =>
  condition && { not: condition };

const severalOperators: Readonly<Partial<Record<ComparisonOperator, ComparisonOperator>>> = {
  equals: 'contains',
  not_equals: 'not_contains',
};

/**
 * Compares the answer to an element with values of a document. With several values, `equals` matches any of
 * them and `not_equals` none.
 * @returns undefined if no condition can express it.
 */
export function createComparisonCondition(
  named: ReferencedElement,
  is: ComparisonOperator,
  values: readonly PlainValue[],
): Condition | undefined {
  const { node } = named;
  const element = String(node.attrs['id']);
  if (is === 'answered' || is === 'not_answered') return { element, is };
  const isSeveral = node.type === 'multiple_choice' || node.type === 'picture_choice';
  const operator = isSeveral ? (severalOperators[is] ?? is) : is;
  const others = values.filter((value) => isOther(named, value));
  const fitted = values
    .filter((value) => !others.includes(value))
    .map((value) => toAnswerValue(named, value));
  if (is === 'one_of') {
    const plain = fitted.filter((value) => typeof value !== 'boolean');
    const list = plain.filter((value) => value !== undefined);
    if (list.length < plain.length) return undefined;
    const flags = fitted.filter((value) => typeof value === 'boolean');
    return combineConditions('any', [
      ...(list.length > 0 ? [{ element, is, value: list }] : []),
      ...flags.map((value) => ({ element, is: 'equals', value }) as const),
      ...others.map(() => createOtherChosenCondition(node)),
    ]);
  }
  if (others.length > 0 && is !== 'equals' && is !== 'not_equals') return undefined;
  const isNot = operator === 'not_equals' || operator === 'not_contains';
  return combineConditions(isNot ? 'all' : 'any', [
    ...fitted.map((value) => (value === undefined ? undefined : { element, is: operator, value })),
    ...others.map(() =>
      is === 'equals' ? createOtherChosenCondition(node) : negateCondition(createOtherChosenCondition(node)),
    ),
  ]);
}

function isOther({ node: { attrs }, choices }: ReferencedElement, value: PlainValue): boolean {
  if (choices) return choices.get(String(value)) === otherAnswerKey;
  const options = (attrs['options'] ?? []) as readonly Option[];
  return (
    value === 'other' && attrs['other'] === true && !options.some((option) => optionIdOf(option) === value)
  );
}

/**
 * Returns the condition that an answer is free text and none of the options.
 * @returns undefined if no condition can express it: for multiple choices, and for questions without free
 * text.
 */
export function createOtherChosenCondition({ type, attrs }: SketchNode): Condition | undefined {
  if ((type !== 'radio' && type !== 'dropdown') || attrs['other'] !== true) return undefined;
  const element = String(attrs['id']);
  const value = ((attrs['options'] ?? []) as readonly Option[]).map(optionIdOf);
  return { all: [{ element, is: 'answered' }, { not: { element, is: 'one_of', value } }] };
}

const numbers: readonly string[] = ['number', 'rating', 'scale', 'calculation'];

/**
 * Converts a value to the type of the element's answers: `'3'` is 3 for a rating, and 3 is `'3'` for a
 * choice.
 * @returns undefined if no answer can have the value.
 */
function toAnswerValue(
  { node: { type }, yes = 'true', no = 'false', choices }: ReferencedElement,
  value: PlainValue,
): PlainValue | undefined {
  if (choices) return choices.get(String(value));
  if (numbers.includes(type)) {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
  }
  if (type !== 'yes_no') return String(value);
  return String(value) === yes ? true : String(value) === no ? false : undefined;
}

/** What a visitor sees at the end. `when`: the conditions of the jumps that lead to it. */
export type EndScreen = { part: SourcePart; node: SketchNode; when: Condition[]; isUsual: boolean };

/**
 * Turns endings with conditions into conditional confirmations, and the default ending into the confirmation
 * of the form.
 */
export function applyEndScreens({ settings }: Sketch, endings: readonly EndScreen[]): void {
  const usual = endings.find(({ isUsual }) => isUsual) ?? endings.find(({ when }) => when.length === 0);
  const confirmations: object[] = [];
  for (const { part, node, when } of endings) {
    if (when.length > 0) confirmations.push({ when: combineConditions('any', when), ...node.attrs });
    if (when.length > 0) part.map('conditional confirmation');
    else if (part === usual?.part) part.map('confirmation');
    else part.leaveOut('No jump leads to this ending.');
  }
  if (confirmations.length > 0) settings['confirmations'] = confirmations;
  const { title, message, redirect_url: address, translations = {} } = usual?.node.attrs ?? {};
  if (title) setTheme(settings, 'confirmation_title', title);
  if (message) settings['confirmation_message'] = message;
  if (address) settings['redirect_url'] ??= address;
  for (const [language, texts] of Object.entries(translations as Record<string, Record<string, string>>)) {
    const all = (settings['translations'] ??= {}) as Record<string, Record<string, string>>;
    const { title: head, message: text } = texts;
    all[language] = {
      ...all[language],
      ...(head && { 'theme.confirmation_title': head }),
      ...(text && { confirmation_message: text }),
    };
  }
}

function setTheme(settings: Record<string, unknown>, name: string, value: unknown): void {
  settings['theme'] = { ...(settings['theme'] as object | undefined), [name]: value };
}
