/**
 * The search operators that every form has, each with its values and an example. If an operator does not understand its
 * value, the whole is searched as text: `status:open` is a status line in a log.
 */
export const operators = {
  email: {
    takes: 'a mail address, its domain, or what stands before the @',
    example: 'email:ada@acme.com',
    understands: () => true,
  },
  form: {
    takes: 'a form, by its name or its id',
    example: 'form:"Contact us"',
    understands: () => true,
  },
  status: {
    takes: '"completed" or "incomplete"',
    example: 'status:incomplete',
    understands: (value) => value === 'completed' || value === 'incomplete',
  },
  after: {
    takes: 'a day, which counts, or a moment',
    example: 'after:2026-01-01',
    understands: isMoment,
  },
  before: {
    takes: 'a day, which counts no more, or a moment',
    example: 'before:2026-02-01',
    understands: isMoment,
  },
  tag: { takes: 'a tag', example: 'tag:vip', understands: () => true },
} as const satisfies Readonly<
  Record<string, { takes: string; example: string; understands: (value: string) => boolean }>
>;

/** What else means something, with an example. */
export const signs = {
  phrase: { takes: 'words one behind the other', example: '"stuck fast"' },
  not: { takes: 'what must not be there', example: '-refund' },
  beginning: { takes: 'words that begin so', example: 'web*' },
  field: { takes: 'an answer, by the id of its element', example: 'topic:sales' },
  row: { takes: 'the answer in one row of a matrix', example: 'pleased[Room]:good' },
} as const;

export type OperatorName = keyof typeof operators;
const isOperatorName = (name: string): name is OperatorName => Object.hasOwn(operators, name);

/** So many phrases, beginnings, operators and words that must not be there one question has at most: each is looked at by itself. */
export const mostParts = 24;
/** So many letters a beginning has at least: one alone would mean almost every submission, and is a word instead. */
export const leastBeginning = 2;

/**
 * A part of a question and where it stands in it, in UTF-16 units. `isNot`: what is found must not have it.
 * - `word`: in any of its forms
 * - `phrase`: words one behind the other, within one answer
 * - `beginning`: words that begin so
 * - `operator`, and `field`, which asks the element of this id, if there is one, or one row of it; if there is none it is a word
 */
export type QuestionPart = {
  readonly begin: number;
  readonly end: number;
  readonly isNot: boolean;
} & (
  | { readonly kind: 'word' | 'phrase' | 'beginning'; readonly text: string }
  | { readonly kind: 'operator'; readonly name: OperatorName; readonly text: string }
  | {
      readonly kind: 'field';
      readonly name: string;
      /** The id of a row of a matrix; '': the whole answer. */
      readonly row: string;
      readonly text: string;
      readonly isPhrase: boolean;
    }
);

/** What is wrong with a part of a question, as a sentence that says where. */
export type QuestionProblem = { readonly message: string; readonly begin: number; readonly end: number };

export type Question = {
  readonly parts: readonly QuestionPart[];
  readonly problems: readonly QuestionProblem[];
};

/**
 * Reads a question as it is typed into a search: `shuttle "stuck fast" -refund web* email:acme status:completed`. Any
 * text is one; signs that mean nothing where they stand, and operators with a value that they do not understand, are parts of
 * words. Only too many parts are a problem. The server reads by this, and who shows a question colours and suggests by it.
 */
export function readQuestion(text: string): Question {
  if (!anySign.test(text)) return { parts: Array.from(text.matchAll(/\S+/g), wordOf), problems: [] };
  const parts = [...text.matchAll(tokens)].flatMap(readToken);
  const problems: QuestionProblem[] = [];
  const over = parts.filter(({ kind, isNot }) => kind !== 'word' || isNot)[mostParts];
  if (over) {
    const message = `A question has at most ${mostParts} phrases, operators and words that must not be there; one too many stands at character ${over.begin + 1}.`;
    problems.push({ message, begin: over.begin, end: over.end });
  }
  return { parts, problems };
}

/** What is more than words has one of these. Most questions are words, and the pattern of all else took 8 µs of a search in a profile on busy cores. */
const anySign = /["*:-]/;

const wordOf = ({ index, 0: text }: RegExpExecArray): QuestionPart => ({
  begin: index,
  end: index + text.length,
  isNot: false,
  kind: 'word',
  text,
});

/** A sign, a name and its colon, a quotation that may lack its end; else whatever is not blank. */
const tokens =
  /(?<not>-(?=["\p{L}\p{N}]))?(?:(?<name>[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.:-]*)(?:\[(?<row>[^\]"]+)\])?:(?=[^\s/]))?(?:"(?<quoted>[^"]*)(?:"|$)|(?<bare>\S+))/gu;

function readToken(match: RegExpExecArray): QuestionPart[] {
  const { not, name, row = '', quoted, bare = '' } = match.groups as Partial<Record<string, string>>;
  const place = { begin: match.index, end: match.index + match[0].length, isNot: not !== undefined };
  const text = quoted?.trim() ?? bare;
  // A quotation of nothing asks for nothing.
  if (text === '') return [];
  const sent = match[0].slice(not?.length ?? 0);
  if (name !== undefined) {
    // An id may have colons, but the name of an operator has none: `tag:a:b` is the tag "a:b".
    const [operator] = name.split(':', 1) as [string];
    if (!isOperatorName(operator) || row !== '')
      return [{ ...place, kind: 'field', name, row, text, isPhrase: quoted !== undefined }];
    const value =
      operator === name
        ? text
        : sent
            .slice(operator.length + 1)
            .replaceAll('"', '')
            .trim();
    return [
      operators[operator].understands(value)
        ? { ...place, kind: 'operator', name: operator, text: value }
        : { ...place, kind: 'word', text: sent },
    ];
  }
  if (quoted !== undefined) return [{ ...place, kind: 'phrase', text }];
  const beginning = /^(?<letters>[\p{L}\p{N}]+)\*$/u.exec(text)?.groups?.['letters'];
  return [
    beginning === undefined || beginning.length < leastBeginning
      ? { ...place, kind: 'word', text }
      : { ...place, kind: 'beginning', text: beginning },
  ];
}

const dayPattern = /^\d{4}-\d\d-\d\d$/;
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;

function isMoment(value: string): boolean {
  if (!dayPattern.test(value) && !momentPattern.test(value)) return false;
  // `Date` takes the 31st of February for the 3rd of March.
  return !Number.isNaN(Date.parse(value)) && isDay(value.slice(0, 10));
}

function isDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

/** The question with days as the moments in which they begin for a reader, where `before:` and `after:` name days. */
export function withMoments(text: string, startOf: (day: string) => string): string {
  let done = '';
  let at = 0;
  for (const { begin, end, isNot, ...part } of readQuestion(text).parts) {
    if (part.kind !== 'operator' || (part.name !== 'before' && part.name !== 'after')) continue;
    if (!dayPattern.test(part.text) || !isDay(part.text)) continue;
    done += `${text.slice(at, begin)}${isNot ? '-' : ''}${part.name}:${startOf(part.text)}`;
    at = end;
  }
  return done + text.slice(at);
}

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
