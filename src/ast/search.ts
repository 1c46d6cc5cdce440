/**
 * The search operators of every form, with their values and an example. If the value is not valid for the
 * operator, the whole is searched as text: `status:open` can be a status line in a log.
 */
export const searchOperators = {
  email: {
    takes: 'an email address, its domain, or the part before the @',
    example: 'email:ada@acme.com',
    understands: () => true,
  },
  form: { takes: 'a form, by name or ID', example: 'form:"Contact us"', understands: () => true },
  status: {
    takes: '"completed", "incomplete" or "waiting"',
    example: 'status:incomplete',
    understands: (value) => ['completed', 'incomplete', 'waiting'].includes(value),
  },
  after: { takes: 'on or after this day or time', example: 'after:2026-01-01', understands: isMoment },
  before: { takes: 'before this day or time', example: 'before:2026-02-01', understands: isMoment },
  tag: { takes: 'a tag', example: 'tag:vip', understands: () => true },
} as const satisfies Readonly<
  Record<string, { takes: string; example: string; understands: (value: string) => boolean }>
>;

/** The other search syntax, with an example. */
export const searchSyntax = {
  phrase: { takes: 'words in this order', example: '"stuck fast"' },
  not: { takes: 'a word to exclude', example: '-refund' },
  beginning: { takes: 'words that begin with these letters', example: 'web*' },
  field: { takes: 'the answer to one question, by its ID', example: 'topic:sales' },
  row: { takes: 'the answer in one row of a matrix', example: 'pleased[Room]:good' },
} as const;

export type SearchOperatorName = keyof typeof searchOperators;
const isOperatorName = (name: string): name is SearchOperatorName => Object.hasOwn(searchOperators, name);

/** The maximum number of phrases, prefixes, operators and excluded words in a query. */
export const maxSearchParts = 24;
/** The minimum length of a prefix. One letter would match almost every submission. */
export const minPrefixLength = 2;

/**
 * A part of a query and its position, in UTF-16 units. `isNot` excludes matches.
 * - `word`: in any of its forms
 * - `phrase`: words in this order, within one answer
 * - `beginning`: words with this prefix
 * - `operator`: a search operator with its value
 * - `field`: searches the element with this ID, or one of its rows; if there is no such element, it is a word
 */
export type SearchPart = { readonly begin: number; readonly end: number; readonly isNot: boolean } & (
  | { readonly kind: 'word' | 'phrase' | 'beginning'; readonly text: string }
  | { readonly kind: 'operator'; readonly name: SearchOperatorName; readonly text: string }
  | {
      readonly kind: 'field';
      readonly name: string;
      /** The ID of a row of a matrix, or '' for the whole answer. */
      readonly row: string;
      readonly text: string;
      readonly isPhrase: boolean;
    }
);

/** What is wrong with a part of a query, as a sentence with the position. */
type SearchProblem = { readonly message: string; readonly begin: number; readonly end: number };

export type ParsedSearch = {
  readonly parts: readonly SearchPart[];
  readonly problems: readonly SearchProblem[];
};

/**
 * Parses a search query: `shuttle "stuck fast" -refund web* email:acme status:completed`. Every text is
 * valid: signs without a meaning and operators with unknown values are read as parts of words. The only
 * problem is too many parts. The server uses it to search, and clients to highlight and suggest.
 */
export function parseSearch(text: string): ParsedSearch {
  if (!anySign.test(text)) return { parts: Array.from(text.matchAll(/\S+/g), wordOf), problems: [] };
  const parts = [...text.matchAll(tokens)].flatMap(readToken);
  const problems: SearchProblem[] = [];
  const over = parts.filter(({ kind, isNot }) => kind !== 'word' || isNot)[maxSearchParts];
  if (over) {
    const message = `A search can have at most ${maxSearchParts} phrases, operators and excluded words. Remove those that begin at character ${over.begin + 1} or later.`;
    problems.push({ message, begin: over.begin, end: over.end });
  }
  return { parts, problems };
}

/** Only texts with one of these need the full pattern, which took 8 µs of a search on busy cores. */
const anySign = /["*:-]/;

const wordOf = ({ index, 0: text }: RegExpExecArray): SearchPart => ({
  begin: index,
  end: index + text.length,
  isNot: false,
  kind: 'word',
  text,
});

/** A sign, a name with its colon, a quoted text (perhaps unclosed), or any text up to a space. */
const tokens =
  /(?<not>-(?=["\p{L}\p{N}]))?(?:(?<name>[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.:-]*)(?:\[(?<row>[^\]"]+)\])?:(?=[^\s/]))?(?:"(?<quoted>[^"]*)(?:"|$)|(?<bare>\S+))/gu;

function readToken(match: RegExpExecArray): SearchPart[] {
  const { not, name, row = '', quoted, bare = '' } = match.groups as Partial<Record<string, string>>;
  const place = { begin: match.index, end: match.index + match[0].length, isNot: not !== undefined };
  const text = quoted?.trim() ?? bare;
  // An empty quotation matches nothing and is skipped.
  if (text === '') return [];
  const sent = match[0].slice(not?.length ?? 0);
  if (name !== undefined) {
    // An ID can contain colons but an operator name cannot: `tag:a:b` is the tag "a:b".
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
      searchOperators[operator].understands(value)
        ? { ...place, kind: 'operator', name: operator, text: value }
        : { ...place, kind: 'word', text: sent },
    ];
  }
  if (quoted !== undefined) return [{ ...place, kind: 'phrase', text }];
  const beginning = /^(?<letters>[\p{L}\p{N}]+)\*$/u.exec(text)?.groups?.['letters'];
  return [
    beginning === undefined || beginning.length < minPrefixLength
      ? { ...place, kind: 'word', text }
      : { ...place, kind: 'beginning', text: beginning },
  ];
}

const dayPattern = /^\d{4}-\d\d-\d\d$/;
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;

function isMoment(value: string): boolean {
  if (!dayPattern.test(value) && !momentPattern.test(value)) return false;
  // `Date` reads February 31 as March 3.
  return !Number.isNaN(Date.parse(value)) && isDay(value.slice(0, 10));
}

function isDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

/** Replaces days in `before:` and `after:` with the times at which they begin for the reader. */
export function replaceDaysWithTimes(text: string, startOf: (day: string) => string): string {
  let done = '';
  let at = 0;
  for (const { begin, end, isNot, ...part } of parseSearch(text).parts) {
    if (part.kind !== 'operator' || (part.name !== 'before' && part.name !== 'after')) continue;
    if (!dayPattern.test(part.text) || !isDay(part.text)) continue;
    done += `${text.slice(at, begin)}${isNot ? '-' : ''}${part.name}:${startOf(part.text)}`;
    at = end;
  }
  return done + text.slice(at);
}

/** The word, operator name or value that is being typed at the caret. */
export type UnfinishedSearchPart = {
  /** The start of the text that a completion replaces, in UTF-16 units. */
  begin: number;
  end: number;
  /** The typed text up to the caret. */
  text: string;
  /** The name before the colon, or undefined without a colon. */
  name: string | undefined;
};

/** Returns what is being typed at a position of a query. Undefined for nothing or a quotation. */
export function findUnfinishedPart(question: string, at: number): UnfinishedSearchPart | undefined {
  const before = question.slice(0, at);
  const match =
    /(?:^|\s)-?(?:(?<name>[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.:-]*)(?:\[[^\]"]+\])?:)?(?<open>"?)(?<text>[^\s":]*)$/u.exec(
      before,
    );
  const { name, open = '', text = '' } = match?.groups ?? {};
  // A space within a quotation does not begin a new part.
  if ((before.split('"').length % 2 === 0 && open === '') || (open === '"' && !name)) return undefined;
  const begin = at - text.length - open.length;
  const rest = /^[^\s"]*"?/.exec(question.slice(at))![0];
  return text === '' && !name ? undefined : { begin, end: at + rest.length, text, name };
}

/** Formats a text as a value after a colon, in quotes if it has several words. */
export const quoteValue = (text: string): string => {
  const value = text.replaceAll('"', ' ').replaceAll(/\s+/g, ' ').trim();
  return /\s/.test(value) ? `"${value}"` : value;
};

/** Lists the operators whose names begin with the text. */
export const findOperatorsByPrefix = (beginning: string): SearchOperatorName[] =>
  (Object.keys(searchOperators) as SearchOperatorName[]).filter((name) =>
    name.startsWith(beginning.toLowerCase()),
  );
