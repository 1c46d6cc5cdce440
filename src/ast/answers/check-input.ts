import { otherChoice } from '../fields.ts';
import { answerLimits } from '../limits.ts';
import {
  byteCap,
  countProblem,
  lengthProblem,
  momentProblem,
  numberProblem,
  patternBroken,
  type RuleContext,
} from '../rules/check-rules.ts';
import type { BrokenRule, RuleName } from '../rules/problem.ts';
import type { InputType } from '../elements.ts';
import { fitsBytes, isCleanText } from '../text.ts';
import { type InputElement, optionSetOf, takesOther } from '../tree.ts';
import { spend } from '../work.ts';
import { answerDefinitions } from './kinds.ts';
import { tidyAnswer } from './tidy.ts';

/** The answer of one input, files aside. */
export type PlainAnswer = string | number | boolean | string[];

/** What a check says: the answer to store, or the rule that it breaks. */
type CheckedAnswer<Answer> =
  | { readonly ok: true; readonly value: Answer }
  | { readonly ok: false; readonly broken: BrokenRule };

/**
 * Checks one raw value that is not blank by the type of its input (docs/rules.md 10) and the author's rules.
 * @throws TooMuchWork
 */
export function checkAnswer(
  input: InputElement,
  value: unknown,
  context: RuleContext,
): CheckedAnswer<PlainAnswer> {
  // The table pairs each type with its own input, which a lookup by a union cannot express.
  const check = checks[input.type] as Check<InputElement>;
  const takesMany = answerDefinitions[input.type].kind === 'choices';
  if (!takesMany && Array.isArray(value) && value.length > 1) return refuse('once');
  spend(context.work, steps.answer);
  return check(input, tidyAnswer(input, value, context.work), context);
}

/** What a check costs, in the steps of work.ts. */
const steps = { answer: 40, character: 0.25 } as const;

type Check<Input extends InputElement> = (
  input: Input,
  value: unknown,
  context: RuleContext,
) => CheckedAnswer<PlainAnswer>;
type Checks = { readonly [Type in InputType]: Check<Extract<InputElement, { type: Type }>> };

const checks: Checks = {
  text: (input, value, context) =>
    checkText(
      input,
      value,
      context,
      (text) => lengthProblem(input, text) ?? patternBroken(input, text, context),
    ),
  textarea: (input, value, context) =>
    checkText(
      input,
      value,
      context,
      (text) => lengthProblem(input, text) ?? patternBroken(input, text, context),
    ),
  email: (input, value, context) => checkText(input, value, context, (text) => lengthProblem(input, text)),
  phone: (input, value, context) => checkText(input, value, context, (text) => lengthProblem(input, text)),
  url: (input, value, context) => checkText(input, value, context, (text) => lengthProblem(input, text)),
  number: (input, value, context) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return refuse('number');
    // Adding zero turns -0, which JSON does not keep, into 0.
    return conclude(value + 0, numberProblem(input, value + 0, context));
  },
  date: (input, value, context) =>
    checkText(input, value, context, (text) => momentProblem(input, text, context)),
  datetime: (input, value, context) =>
    checkText(input, value, context, (text) => momentProblem(input, text, context)),
  time: (input, value, context) =>
    checkText(input, value, context, (text) => momentProblem(input, text, context)),
  dropdown: checkChoice,
  radio: checkChoice,
  multiple_choice: (input, value) => {
    const checked = checkChoices(input, value);
    if (!checked.ok) return checked;
    const { min_choices: least, max_choices: most } = input.attrs;
    const rules = { least: 'min_choices', most: 'max_choices' } as const;
    return conclude(checked.value, countProblem(checked.value.length, least, most, rules));
  },
  yes_no: (_input, value) => (typeof value === 'boolean' ? accept(value) : refuse('yes_no')),
  // Only the upload itself says what a file is; a client must not name one by hand.
  file_upload: () => refuse('upload'),
};

function checkText(
  input: InputElement,
  value: unknown,
  { work }: RuleContext,
  ruleProblem: (text: string) => BrokenRule | undefined,
): CheckedAnswer<string> {
  const definition = answerDefinitions[input.type];
  if (definition.kind !== 'text' || typeof value !== 'string') return refuse('text');
  spend(work, value.length * steps.character);
  if (!isCleanText(value)) return refuse('characters');
  if (!fitsBytes(value, answerLimits.answerBytes))
    return { ok: false, broken: { rule: 'bytes', values: byteCap } };
  return definition.format.accepts(value)
    ? conclude(value, ruleProblem(value))
    : refuse(definition.format.rule);
}

function checkChoice(input: InputElement, value: unknown): CheckedAnswer<string> {
  if (typeof value === 'string' && optionSetOf(input).has(value)) return accept(value);
  return takesOther(input) ? checkOther(value) : refuse('option');
}

function checkChoices(input: InputElement, value: unknown): CheckedAnswer<string[]> {
  if (!Array.isArray(value)) return refuse('options');
  const options = optionSetOf(input);
  const chosen = new Set<string>();
  let others = 0;
  for (const choice of value) {
    if (chosen.has(choice)) return refuse('options');
    if (!options.has(choice)) {
      others += 1;
      if (!takesOther(input) || others > 1) return refuse('options');
      const other = checkOther(choice);
      if (!other.ok) return other;
    }
    chosen.add(choice);
  }
  return accept([...chosen]);
}

/** The one free text of a selection: like an option, a line of at most `answerLimits.labelBytes`. */
function checkOther(value: unknown): CheckedAnswer<string> {
  if (typeof value !== 'string' || value === otherChoice || value === '') return refuse('other');
  if (!isCleanText(value)) return refuse('characters');
  if (/[\r\n]/.test(value)) return refuse('line');
  if (fitsBytes(value, answerLimits.labelBytes)) return accept(value);
  const values = { kilobytes: answerLimits.labelBytes / 1024, limit: answerLimits.labelBytes };
  return { ok: false, broken: { rule: 'bytes', values } };
}

function conclude<Answer>(value: Answer, broken: BrokenRule | undefined): CheckedAnswer<Answer> {
  return broken ? { ok: false, broken } : accept(value);
}

function accept<Answer>(value: Answer): CheckedAnswer<Answer> {
  return { ok: true, value };
}

function refuse(rule: RuleName): CheckedAnswer<never> {
  return { ok: false, broken: { rule } };
}
