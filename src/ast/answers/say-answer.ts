import { otherChoice } from '../fields.ts';
import { sayMoment } from '../rules/moments.ts';
import { textFormats } from '../rules/text-formats.ts';
import { type NumberMarks, sayNumber } from '../rules/written-numbers.ts';
import type { InputElement } from '../tree.ts';
import { isBlank } from './blank.ts';

/** What it takes to say an answer to a person. */
export type AnswerSpeech = {
  /** BCP-47 tag of their language. */
  readonly language: string;
  readonly numbers: NumberMarks;
  readonly words: { readonly yes: string; readonly no: string };
};

/**
 * An answer as people read it, in the page, its mails and wherever a text names it: dates and numbers as their language
 * writes them. Several choices are a text each; a blank answer is none. Takes what was sent as well as what is stored.
 */
export function sayAnswer({ type }: InputElement, value: unknown, speech: AnswerSpeech): string[] {
  const isMoment = type === 'date' || type === 'time' || type === 'datetime';
  const say = (one: unknown): string => {
    if (typeof one === 'boolean') return speech.words[one ? 'yes' : 'no'];
    if (typeof one === 'number') return sayNumber(one, speech.numbers);
    const text = String(one);
    return isMoment && textFormats[type].accepts(text) ? sayMoment(text, speech.language) : text;
  };
  return [value].flat().flatMap((one) => (isBlank(one) || one === otherChoice ? [] : [say(one)]));
}
