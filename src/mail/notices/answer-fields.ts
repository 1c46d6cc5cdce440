import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers.ts';
import { type AnswerSpeech, sayAnswer } from '#ast/answers/say-answer.ts';
import { type SayText, textSayer } from '#ast/answers/say-piped.ts';
import { own } from '#ast/json.ts';
import type { Locale } from '#ast/locales.ts';
import { numberMarksOf } from '#ast/rules/written-numbers.ts';
import { type Form, type InputElement, kindOf, listQuestions } from '#ast/tree.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import type { LetterField } from '#kit/outbox/letter.ts';
import type { MailWords } from '../words/words.ts';

/** How a mail says answers: as the page does. */
const speechOf = (language: Locale, words: Pick<MailWords, 'yes' | 'no'>): AnswerSpeech => ({
  language,
  numbers: numberMarksOf(language),
  words,
});

const noFiles: ReadonlyMap<string, readonly { readonly filename: string }[]> = new Map();

/** Texts of a form with the answers that they show, as they were stored: of what was hidden nothing was. */
const storedSayer = (form: Form, values: Answers, speech: AnswerSpeech): SayText =>
  textSayer({ form, values, held: noFiles, shown: { isShown: () => true }, speech });

/** A text of the form's settings with the answers that it shows. */
export const sayWithAnswers = (
  form: Form,
  answers: Answers,
  { locale, words }: { readonly locale: Locale; readonly words: Pick<MailWords, 'yes' | 'no'> },
  text: string,
): string => storedSayer(form, answers, speechOf(locale, words))(text);

/**
 * What was answered, in the order of the form and under its labels; what was left out is not listed.
 * @param isListed which of the inputs: all, unless it says otherwise.
 */
export function answerFields(
  form: Form,
  answers: Answers,
  { locale, words }: { readonly locale: Locale; readonly words: Pick<MailWords, 'yes' | 'no'> },
  isListed: (input: InputElement) => boolean = () => true,
): LetterField[] {
  const speech = speechOf(locale, words);
  const say = storedSayer(form, answers, speech);
  return listQuestions(form).flatMap((question): LetterField[] => {
    const { id } = question.element.attrs;
    const label = say(question.element.attrs.label);
    const answer = own(answers, id);
    if (answer === undefined) return [];
    if (question.kind === 'input')
      return !isListed(question.element) ? [] : [fieldOf(question.element, label, answer, speech)];
    return (answer as AnswerRow[]).flatMap((row, index) =>
      question.inputs.flatMap((input): LetterField[] => {
        const cell = own(row, input.attrs.id);
        const inRow = say(input.attrs.label, { group: question.element, index });
        const place = `${label} ${index + 1}: ${inRow}`;
        return cell === undefined || !isListed(input) ? [] : [fieldOf(input, place, cell, speech)];
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
