import { otherChoice } from './other-choice.ts';
import { sayMoment } from '../rules/moments.ts';
import { type NumberMarks, sayNumber } from '../rules/written-numbers.ts';
import type { InputElement } from '../tree.ts';
import { inputRules } from '../input-rules.ts';
import type { InputRules } from '../types/rules.ts';
import { isBlank } from './blank.ts';
import { optionsById } from './options.ts';

/** What it takes to say an answer to a person. */
export type AnswerSpeech = {
  /** BCP-47 tag of their language. */
  readonly language: string;
  readonly numbers: NumberMarks;
  readonly words: { readonly yes: string; readonly no: string };
};

/**
 * An answer as people read it, in the page, its mails and wherever a text names it: dates and numbers as their language
 * writes them, options by their labels. Several choices are a text each; a blank answer is none. Takes what was sent as well as what is stored.
 */
export function sayAnswer({ type, attrs }: InputElement, value: unknown, speech: AnswerSpeech): string[] {
  const { kind, format }: InputRules = inputRules[type];
  const say = (one: unknown): string => {
    if (typeof one === 'boolean') return speech.words[one ? 'yes' : 'no'];
    if (typeof one === 'number') return sayNumber(one, speech.numbers);
    const text = optionsById(attrs).get(one)?.label ?? String(one);
    return kind === 'moment' && format?.accepts(text) ? sayMoment(text, speech.language) : text;
  };
  return [value].flat().flatMap((one) => (isBlank(one) || one === otherChoice ? [] : [say(one)]));
}
