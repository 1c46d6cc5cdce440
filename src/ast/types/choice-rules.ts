import { answerLimits } from '../basics/limits.ts';
import { type ChoiceAttributes, optionsById, otherChoice } from '../basics/options.ts';
import { fitsBytes, isCleanText } from '../basics/text.ts';
import { acceptAnswer, type CheckedAnswer, refuseAnswer } from './rules.ts';

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
