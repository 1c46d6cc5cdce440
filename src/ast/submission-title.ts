import type { Answers } from './answers/check-answers.ts';
import { getProperty } from './basics/json.ts';
import { isInvisible, trimText } from './basics/text.ts';
import { autofillOf } from './form/autofill.ts';
import { isInputType } from './form/input-rules.ts';
import type { InputElement } from './form/tree.ts';

/** A question outside of rows. */
type TitleQuestion = {
  readonly id: string;
  readonly label: string;
  readonly type: string;
  readonly autocomplete?: string;
};

/** The maximum length of a title, in characters. A title has one line. */
const longestTitle = 80;

/**
 * Returns the title of a submission: the visitor's name, else the subject, else the first text, else an email
 * address. Undefined if these are all blank.
 * @param questions the questions in form order.
 * @param subject the element named in the form's settings.
 */
export function getSubmissionTitle(
  questions: readonly TitleQuestion[],
  answers: Answers,
  subject?: string,
): string | undefined {
  const inputs = questions.flatMap(({ type, ...attrs }) =>
    isInputType(type) ? [{ type, attrs } as unknown as InputElement] : [],
  );
  const answerTo = (find: (input: InputElement) => boolean): string | undefined => {
    for (const input of inputs.filter(find)) {
      const answer = getProperty(answers, input.attrs.id);
      if (typeof answer === 'string' && !isInvisible(answer)) return trimText(answer);
    }
    return undefined;
  };
  const filledBy = (token: ReturnType<typeof autofillOf>) =>
    answerTo((input) => input.type === 'text' && autofillOf(input) === token);
  const parts = [filledBy('given-name'), filledBy('family-name')].filter((part) => part !== undefined);
  const title =
    filledBy('name') ??
    (parts.length > 0 ? parts.join(' ') : undefined) ??
    answerTo(({ attrs }) => attrs.id === subject) ??
    answerTo(({ attrs }) => attrs.id === 'subject') ??
    answerTo(({ type }) => type === 'text') ??
    answerTo(({ type }) => type === 'email');
  if (title === undefined) return undefined;
  const [line] = title.split('\n');
  return line!.length > longestTitle ? `${line!.slice(0, longestTitle).toWellFormed()}…` : line;
}
