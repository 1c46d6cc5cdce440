import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers.ts';
import { type AnswerSpeech, sayAnswer } from '#ast/answers/say-answer.ts';
import { own } from '#ast/json.ts';
import type { Locale } from '#ast/locales.ts';
import { numberMarksOf } from '#ast/rules/written-numbers.ts';
import { type Form, type InputElement, kindOf, listQuestions } from '#ast/tree.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import type { LetterField } from '#kit/outbox/letter.ts';
import type { MailWords } from '../words/english.ts';

/** How a mail says answers: as the page does. */
const speechOf = (language: Locale, words: Pick<MailWords, 'yes' | 'no'>): AnswerSpeech => ({
  language,
  numbers: numberMarksOf(language),
  words,
});

/** What was answered, in the order of the form and under its labels; what was left out is not listed. */
export function answerFields(
  form: Form,
  answers: Answers,
  { locale, words }: { readonly locale: Locale; readonly words: Pick<MailWords, 'yes' | 'no'> },
): LetterField[] {
  const speech = speechOf(locale, words);
  return listQuestions(form).flatMap((question): LetterField[] => {
    const { id, label } = question.element.attrs;
    const answer = own(answers, id);
    if (answer === undefined) return [];
    if (question.kind === 'input') return [fieldOf(question.element, label, answer, speech)];
    return (answer as AnswerRow[]).flatMap((row, index) =>
      question.inputs.flatMap((input): LetterField[] => {
        const cell = own(row, input.attrs.id);
        const place = `${label} ${index + 1}: ${input.attrs.label}`;
        return cell === undefined ? [] : [fieldOf(input, place, cell, speech)];
      }),
    );
  });
}

function fieldOf(input: InputElement, label: string, answer: AnswerValue, speech: AnswerSpeech): LetterField {
  if (kindOf(input) === 'files') {
    const files = (answer as FileAnswer[]).map(({ id, filename, size }) => ({ id, filename, size }));
    return { label, files };
  }
  return { label, value: sayAnswer(input, answer, speech).join('\n') };
}

/**
 * The first answer to a question for an email address that mail can be sent to, so that an answer to the mail goes
 * there. An answer is an address by the HTML standard, which takes some that are none of mail: `ada.@example.org`.
 */
export function replyAddress(form: Form, answers: Answers): string | undefined {
  for (const { kind, element } of listQuestions(form)) {
    const answer = kind === 'input' && element.type === 'email' ? own(answers, element.attrs.id) : undefined;
    const address = typeof answer === 'string' ? readMailAddress(answer)?.address : undefined;
    if (address !== undefined) return address;
  }
  return undefined;
}
