import { attributeDefaults } from '../basics/defaults.ts';
import { answerLimits } from '../basics/limits.ts';
import { type ChoiceAttributes, optionsById, otherChoice } from '../basics/options.ts';
import { fitsBytes, isCleanText } from '../basics/text.ts';
import { spendWork } from '../basics/work.ts';
import {
  byteLimitValues,
  itemCountProblem,
  type LengthRules,
  lengthProblem,
  type MomentRules,
  momentProblem,
  type NumberRules,
  numberProblem,
  type RuleContext,
} from '../rules/check-rules.ts';
import type { MomentFormat } from '../rules/moments.ts';
import type { BrokenRule } from '../rules/problem.ts';
import { type TextFormat, textFormats } from '../rules/text-formats.ts';
import {
  acceptAnswer,
  type CheckedAnswer,
  checkCosts,
  type Levels,
  refuseAnswer,
  toCheckedAnswer,
} from './rules.ts';

type Problem<Attrs> = (attrs: Attrs, text: string, context: RuleContext) => BrokenRule | undefined;

/** The rules of a text answer in one format. */
export const textRules = <Attrs>(name: keyof typeof textFormats, problem: Problem<Attrs>) => {
  const format: TextFormat = textFormats[name];
  const check = (attrs: Attrs, value: unknown, context: RuleContext): CheckedAnswer<string> => {
    if (typeof value !== 'string') return refuseAnswer('text');
    spendWork(context.work, value.length * checkCosts.character);
    if (!isCleanText(value)) return refuseAnswer('characters');
    if (!fitsBytes(value, answerLimits.answerBytes))
      return { ok: false, broken: { rule: 'bytes', values: byteLimitValues } };
    return format.accepts(value)
      ? toCheckedAnswer(value, problem(attrs, value, context))
      : refuseAnswer(format.rule);
  };
  return { kind: 'text', format, check } as const;
};

/** The rules of a date or time, as text that sorts by time. */
export const momentRules = (format: MomentFormat) =>
  ({ ...textRules<MomentRules>(format, momentProblem), kind: 'moment' }) as const;

/** A line of text from the URL of the form or from a program. Visitors are not asked for it. */
export const hiddenRules = {
  ...textRules('line', ({ max_length: most = attributeDefaults.hidden_length }: LengthRules, text) =>
    lengthProblem({ max_length: most }, text),
  ),
  isUnasked: true,
} as const;

export const numberRules = {
  kind: 'number',
  check: (attrs: NumberRules, value: unknown, context: RuleContext) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return refuseAnswer('number');
    // Adding zero turns -0, which JSON does not keep, into 0.
    return toCheckedAnswer(value + 0, numberProblem(attrs, value + 0, context));
  },
} as const;

/** The points of a quiz. Only the server knows them (answers/quiz.ts); if a client sends a value, it is ignored. */
export const scoreRules = {
  kind: 'number',
  isUnasked: true,
  check: (_attrs: object, value: unknown, context: RuleContext) => numberRules.check({}, value, context),
} as const;

const levelRules = <Attrs>(levels: (attrs: Attrs) => Levels) => {
  const check = (attrs: Attrs, value: unknown): CheckedAnswer<number> => {
    const { from, to } = levels(attrs);
    if (typeof value !== 'number' || !Number.isFinite(value)) return refuseAnswer('number');
    if (value < from) return { ok: false, broken: { rule: 'min', values: { limit: from } } };
    if (value > to) return { ok: false, broken: { rule: 'max', values: { limit: to } } };
    if (Number.isInteger(value)) return acceptAnswer(value);
    return { ok: false, broken: { rule: 'step', values: { step: 1, base: from } } };
  };
  return { kind: 'number', noun: 'choice', levels, check } as const;
};

export const ratingRules = levelRules((attrs: { readonly levels?: number }) => ({
  from: 1,
  to: attrs.levels ?? attributeDefaults.levels,
}));

export const scaleRules = levelRules((attrs: { readonly from?: number; readonly to?: number }) => ({
  from: attrs.from ?? attributeDefaults.from,
  to: attrs.to ?? attributeDefaults.to,
}));

/** Rules of an answer that is one option, or a free text if the form accepts one. */
export const choiceRules = { kind: 'choice', noun: 'choice', check: checkChoice } as const;

function checkChoice(attrs: ChoiceAttributes, value: unknown): CheckedAnswer<string> {
  if (typeof value === 'string' && optionsById(attrs).has(value)) return acceptAnswer(value);
  return attrs.other ? checkOther(value) : refuseAnswer('option');
}

/** Checks several options, each at most once, and at most one free text. */
export function checkChoices(attrs: ChoiceAttributes, value: unknown): CheckedAnswer<string[]> {
  if (!Array.isArray(value)) return refuseAnswer('options');
  const options = optionsById(attrs);
  const chosen = new Set<string>();
  let others = 0;
  for (const choice of value) {
    if (chosen.has(choice)) return refuseAnswer('options');
    if (!options.has(choice)) {
      others += 1;
      if (!attrs.other || others > 1) return refuseAnswer('options');
      const other = checkOther(choice);
      if (!other.ok) return other;
    }
    chosen.add(choice);
  }
  return acceptAnswer([...chosen]);
}

/** Checks the free text of a selection: one line of at most `answerLimits.labelBytes`, like an option. */
function checkOther(value: unknown): CheckedAnswer<string> {
  if (typeof value !== 'string' || value === otherChoice || value === '') return refuseAnswer('other');
  if (!isCleanText(value)) return refuseAnswer('characters');
  if (/[\r\n]/.test(value)) return refuseAnswer('line');
  if (fitsBytes(value, answerLimits.labelBytes)) return acceptAnswer(value);
  const values = { kilobytes: answerLimits.labelBytes / 1024, limit: answerLimits.labelBytes };
  return { ok: false, broken: { rule: 'bytes', values } };
}

type ChoicesAttributes = ChoiceAttributes & { readonly min_choices?: number; readonly max_choices?: number };

export const choicesRules = {
  kind: 'choices',
  noun: 'choices',
  check: (attrs: ChoicesAttributes, value: unknown) => {
    const checked = checkChoices(attrs, value);
    if (!checked.ok) return checked;
    const rules = { least: 'min_choices', most: 'max_choices' } as const;
    const broken = itemCountProblem(checked.value.length, attrs.min_choices, attrs.max_choices, rules);
    return toCheckedAnswer(checked.value, broken);
  },
} as const;

export const yesNoRules = {
  kind: 'boolean',
  check: (_attrs: object, value: unknown) =>
    typeof value === 'boolean' ? acceptAnswer(value) : refuseAnswer('yes_no'),
} as const;

/** Files come only from uploads, so any value that a client sends is rejected. */
export const fileRules = { kind: 'files', noun: 'files', check: () => refuseAnswer('upload') } as const;
