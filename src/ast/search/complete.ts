import { type OperatorName, operators } from './read-question.ts';

/** What is being written where the caret is: a word or the name of an operator, or what stands behind a colon. */
export type Unfinished = {
  /** What a completion takes the place of, in UTF-16 units: the sign and the name before it stay. */
  begin: number;
  end: number;
  /** As far as it is written. */
  text: string;
  /** The name before the colon; undefined while there is none. */
  name: string | undefined;
};

/** What is being written at a place of a question; undefined where nothing is, or a quotation. */
export function unfinishedAt(question: string, at: number): Unfinished | undefined {
  const before = question.slice(0, at);
  const match =
    /(?:^|\s)-?(?:(?<name>[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.:-]*)(?:\[[^\]"]+\])?:)?(?<open>"?)(?<text>[^\s":]*)$/u.exec(
      before,
    );
  const { name, open = '', text = '' } = match?.groups ?? {};
  // A blank within a quotation begins nothing new.
  if ((before.split('"').length % 2 === 0 && open === '') || (open === '"' && !name)) return undefined;
  const begin = at - text.length - open.length;
  const rest = /^[^\s"]*"?/.exec(question.slice(at))![0];
  return text === '' && !name ? undefined : { begin, end: at + rest.length, text, name };
}

/** A text as a value behind a colon: in quotes where it is several words. */
export const quoteValue = (text: string): string => {
  const value = text.replaceAll('"', ' ').replaceAll(/\s+/g, ' ').trim();
  return /\s/.test(value) ? `"${value}"` : value;
};

/** The operators that begin so. */
export const operatorsCalled = (beginning: string): OperatorName[] =>
  (Object.keys(operators) as OperatorName[]).filter((name) => name.startsWith(beginning.toLowerCase()));
