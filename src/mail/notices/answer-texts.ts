import type { AnswerRow, Answers, AnswerValue, FileAnswer } from '#ast/answers/check-answers.ts';
import { type AnswerFormat, formatAnswerParts } from '#ast/answers/format-answer.ts';
import { createAnswerFormatter, createPlaceholderFiller } from '#ast/answers/format-piped.ts';
import { emailMarkup, splitInlineMarkup } from '#ast/basics/inline-markup.ts';
import { getProperty } from '#ast/basics/json.ts';
import type { Locale } from '#ast/basics/language-tags.ts';
import { readTextBlocks } from '#ast/basics/text-blocks.ts';
import { canPipeInSettings, fillPiped, pipedIds, splitPiped } from '#ast/form/piping.ts';
import { answerKindOf, type Form, type InputElement, listQuestions } from '#ast/form/tree.ts';
import type { EmailWords } from '#ast/settings-email.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import type { EmailBlock, EmailField, EmailPart, NewMail } from '#kit/outbox.ts';
import type { MailWords } from '../words/words.ts';

/** A language, and its words for answers. */
export type Speech = { readonly locale: Locale; readonly words: Pick<MailWords, 'yes' | 'no'> };

/** Returns the format of answers in emails. It matches the public page. */
const formatOf = ({ locale, words }: Speech): AnswerFormat => ({
  language: locale,
  numberLocale: locale,
  words,
});

/** All elements count as shown, because hidden ones have no stored answers. */
const allShown = {
  files: new Map<string, readonly { readonly filename: string }[]>(),
  shown: { isShown: () => true },
} as const;

/** Fills answers into a text of the form's settings. */
export const fillWithAnswers = (form: Form, values: Answers, speech: Speech, text: string): string =>
  createPlaceholderFiller({ form, values, ...allShown, format: formatOf(speech) })(text);

/**
 * Returns the answers with their labels, in form order. Unanswered questions are omitted.
 * @param isListed selects inputs; defaults to all.
 */
export function listAnswerFields(
  form: Form,
  answers: Answers,
  speech: Speech,
  isListed: (input: InputElement) => boolean = () => true,
): EmailField[] {
  const format = formatOf(speech);
  const fillText = createPlaceholderFiller({ form, values: answers, ...allShown, format });
  return listQuestions(form).flatMap((question): EmailField[] => {
    const { id } = question.element.attrs;
    const label = fillText(question.element.attrs.label);
    const answer = getProperty(answers, id);
    if (answer === undefined) return [];
    if (question.kind === 'input')
      return !isListed(question.element) ? [] : [fieldOf(question.element, label, answer, format)];
    return (answer as AnswerRow[]).flatMap((row, index) =>
      question.inputs.flatMap((input): EmailField[] => {
        const cell = getProperty(row, input.attrs.id);
        const inRow = fillText(input.attrs.label, { group: question.element, index });
        const place = `${label} ${index + 1}: ${inRow}`;
        return cell === undefined || !isListed(input) ? [] : [fieldOf(input, place, cell, format)];
      }),
    );
  });
}

function fieldOf(input: InputElement, label: string, answer: AnswerValue, format: AnswerFormat): EmailField {
  if (answerKindOf(input) === 'files') {
    const files = (answer as FileAnswer[]).map(({ id, filename, size }) => ({ id, filename, size }));
    return { label, files };
  }
  return { label, value: formatAnswerParts(input, answer, format).join('\n') };
}

/** The links that an email can show; undefined if the form does not allow editing. */
export type EmailLinks = { readonly submission_url: string; readonly edit_url: string | undefined };

/** What the author's words can show. */
type Shown = {
  readonly form: Form;
  readonly answers: Answers;
  readonly speech: Speech;
  readonly links: EmailLinks;
  /** The blocks in place of `{{answers}}`. */
  readonly listed: readonly EmailBlock[];
};

/** Characters that change the direction of the text after them. An answer must not reorder the author's words. */
const directionMarks = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Writes the parts of an email that its author has worded. The message is split into marks and links before answers are
 * inserted, so that an answer stays plain text.
 */
export function composeAuthorWords(
  { subject, message, reply_to: replyTo }: EmailWords,
  { form, answers, speech, links, listed }: Shown,
): Partial<Pick<NewMail, 'subject' | 'replyTo'>> & { readonly blocks?: readonly EmailBlock[] } {
  const formatAnswer = createAnswerFormatter({
    form,
    values: answers,
    ...allShown,
    format: formatOf(speech),
  });
  const isAnswer = (id: string): boolean => canPipeInSettings(form, id);
  const format = (id: string): string => {
    if (!isAnswer(id)) return id === 'form_name' ? form.attrs.name : '';
    return formatAnswer(id).replaceAll(directionMarks, '');
  };
  const linkOf = (id: string | undefined): string | undefined =>
    id === undefined || isAnswer(id) ? undefined : getProperty(links, id as keyof EmailLinks);

  const fillPart = ({ text, href, mark }: EmailPart): EmailPart[] => {
    const target = href?.startsWith('{{') ? linkOf(pipedIds(href)[0]) : href;
    if (target !== undefined)
      return [{ text: fillPiped(text, (id) => linkOf(id) ?? format(id)).trim() || target, href: target }];
    return splitPiped(text).map((part) => {
      const own = typeof part === 'string' ? undefined : linkOf(part.id);
      const filled = typeof part === 'string' ? part : (own ?? format(part.id));
      return { text: filled, ...(mark && { mark }), ...(own !== undefined && { href: own }) };
    });
  };
  const compose = (text: string): EmailBlock[] =>
    readTextBlocks(text).flatMap(({ kind, lines }): EmailBlock[] => {
      const filled = lines
        .map((line) => splitInlineMarkup(line, emailMarkup).flatMap(fillPart))
        .filter((parts) => parts.some(({ text: part }) => part.trim() !== ''));
      return filled.length === 0 ? [] : [{ kind: 'rich', style: kind, lines: filled }];
    });

  const parts = isAnswer('answers') ? [message ?? ''] : (message ?? '').split(/\{\{ ?answers ?\}\}/);
  const to = typeof replyTo === 'object' ? getProperty(answers, replyTo.answer) : replyTo;
  const address = typeof to === 'string' ? readMailAddress(to)?.address : undefined;
  return {
    ...(subject !== undefined && { subject: fillPiped(subject, format).trim() || form.attrs.name }),
    ...(address !== undefined && { replyTo: address }),
    ...(message !== undefined && {
      blocks: parts.flatMap((part, index) => [...(index > 0 ? listed : []), ...compose(part)]),
    }),
  };
}
