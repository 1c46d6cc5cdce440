import { cutToBytes } from '#ast/basics/text.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import { hasPart, isCommonWord, partOfCompound } from '#submissions/search-text/language-words.ts';
import { digitRuns, foldedSpellings, foldText, readDigits } from '#submissions/search-text/spellings.ts';
import { acronymOf, type Segment, type Token, tokensOf } from '#submissions/search-text/tokens.ts';
import type { SoughtKind, SoughtWords } from './search-words.ts';

/** Selects the words that have a stem in common with a word of the query, in their language. */
const matchWords = statement('languages words:texts q', 'language word:text')`
  select given.language, given.word
  from unnest($languages, $words) as given (language, word)
  join (
    select language, language::regconfig as config, tsvector_to_array(to_tsvector(language::regconfig, $q)) as stems
    from (select distinct language from unnest($languages) as language) languages
    -- Without this, PostgreSQL stems the query again for each word.
    offset 0) question using (language)
  where tsvector_to_array(to_tsvector(question.config, given.word)) && question.stems`;

/**
 * The number of bytes of a text that are searched for hits. More would take time, and readers rarely get that
 * far.
 */
const readBytes = 20_000;
/** The maximum number of characters in readBytes, because a character has at least one byte. */
export const mostReadCharacters = readBytes;

/** What to find in texts. */
export type HitTerms = {
  /** Words in any inflection, in every spelling that the index has. */
  words: ReadonlySet<string>;
  beginnings: readonly string[];
  /** Runs of scripts without spaces. */
  runs: readonly string[];
  /** Words that a language leaves out; marked if the query has only such words. */
  common: ReadonlySet<string>;
};

/** Returns what counts as a hit of a query. */
export function hitTermsOf({ word_groups, word_kinds, word_texts }: SoughtWords): HitTerms {
  const textsOf = (...kinds: SoughtKind[]): string[] =>
    word_texts.filter((_, at) => word_groups[at]! >= 0 && kinds.includes(word_kinds[at]!));
  const old = textsOf('old').map((text) => foldText(text));
  const runs = old.filter((text) =>
    tokensOf(text)
      .flat()
      .some(({ isSpaceless }) => isSpaceless),
  );
  return {
    words: new Set(
      textsOf('exact', 'loose').flatMap((text) =>
        text.split(' ').flatMap((word) => [word, ...foldedSpellings(word)]),
      ),
    ),
    beginnings: textsOf('beginning').flatMap((text) => text.split(' ').map(foldText)),
    runs,
    common: new Set(
      textsOf('common', 'common_apart').flatMap((text) => text.replaceAll('.', '').split(/\s/)),
    ),
  };
}

type Text = { text: string; language: string };

/** The words of a segment in every spelling; the longer ones begin with it. */
const spellingsOf = (word: string): string[] => [word, ...foldedSpellings(word)];

/** Languages whose words can begin differently in their forms. In others, the first letter stays. */
const prefixing = new Set([
  'arabic',
  'hebrew',
  'indonesian',
  'irish',
  'hungarian',
  'tamil',
  'nepali',
  'hindi',
  'yiddish',
]);

/** Returns the words of the texts that may be forms of the words of the query, by language. */
function candidatesIn(
  read: readonly { language: string; tokens: readonly Token[] }[],
  words: ReadonlySet<string>,
) {
  const firstLetters = new Set([...words].map((word) => foldText(word)[0]));
  const found = new Map<string, Set<string>>();
  for (const { language, tokens } of read) {
    const known = found.get(language) ?? new Set<string>();
    found.set(language, known);
    const isAny = prefixing.has(language);
    for (const token of tokens)
      for (const word of wordsOf(token))
        for (const spelling of spellingsOf(word))
          if (isAny || firstLetters.has(foldText(spelling)[0])) known.add(spelling);
  }
  return [...found].flatMap(([language, known]) => [...known].map((word) => ({ language, word })));
}

/** Returns the words that the index has of a token: its segments, their parts, and pairs of neighbors. */
function wordsOf(token: Token): string[] {
  const acronym = acronymOf(token);
  return [
    ...token.flatMap((segment, at) => [
      segment.word,
      ...segment.inner,
      ...(token[at + 1] ? [segment.word + token[at + 1]!.word] : []),
    ]),
    ...(acronym === undefined ? [] : [acronym]),
  ];
}

/**
 * Finds the words of each text that match the query, as written there: for "runs" it finds "Running". Only
 * for display, on the few texts of a page; the search itself decides what matches.
 * @returns for each text its distinct words, longest first, so that a shorter word inside a longer one does
 * not split it.
 */
export async function findHits(
  database: Queryable,
  terms: HitTerms,
  texts: readonly Text[],
): Promise<string[][]> {
  const read = texts.map(({ text, language }) => {
    const plain = cutToBytes(text.slice(0, mostReadCharacters), readBytes);
    return { plain, language, tokens: tokensOf(plain) };
  });
  const candidates = terms.words.size === 0 ? [] : candidatesIn(read, terms.words);
  const rows =
    candidates.length === 0
      ? []
      : await matchWords(database, {
          languages: candidates.map(({ language }) => language),
          words: candidates.map(({ word }) => word),
          q: [...terms.words].join(' '),
        });
  const formsIn = Map.groupBy(rows, ({ language }) => language);
  const compounds = [...terms.words].map(partOfCompound);
  // If a language keeps a word of the query, its common words are not searched.
  const isCommonOnly = terms.common.size > 0 && [...terms.words].every(isCommonWord);
  return read.map(({ plain, language, tokens }) => {
    const forms = new Set((formsIn.get(language) ?? []).map(({ word }) => word));
    const isForm = (word: string): boolean => spellingsOf(word).some((spelling) => forms.has(spelling));
    const isHit = ({ word, inner }: Segment): boolean => {
      const folded = foldText(word);
      return (
        isForm(word) ||
        inner.some(isForm) ||
        terms.beginnings.some((beginning) => folded.startsWith(beginning)) ||
        (isCommonOnly && forms.size === 0 && terms.common.has(word)) ||
        (language === 'german' && hasPart(folded, compounds))
      );
    };
    const spans = tokens.flatMap((token) => spansOf(token, { isHit, isForm, runs: terms.runs }));
    for (const run of digitRuns(plain)) {
      const { whole, national } = readDigits(run.text);
      if (terms.words.has(whole) || terms.words.has(national)) spans.push(run);
    }
    return [...new Set(mergeSpans(spans).map(({ begin, end }) => plain.slice(begin, end)))].sort(
      (a, b) => b.length - a.length,
    );
  });
}

type Span = { readonly begin: number; readonly end: number };

function spansOf(
  token: Token,
  {
    isHit,
    isForm,
    runs,
  }: { isHit: (segment: Segment) => boolean; isForm: (word: string) => boolean; runs: readonly string[] },
): Span[] {
  const [first] = token as unknown as readonly [Segment];
  if (first.isSpaceless) return runs.flatMap((run) => spansOfRun(first, foldText(run)));
  const acronym = acronymOf(token);
  if (acronym !== undefined && isForm(acronym)) return [{ begin: first.begin, end: token.at(-1)!.end }];
  return token.flatMap((segment, at): Span[] => {
    const next = token[at + 1];
    if (next && isForm(segment.word + next.word)) return [{ begin: segment.begin, end: next.end }];
    return isHit(segment) ? [segment] : [];
  });
}

/** Finds a run in another one. If normalization changed its length, the whole segment is a hit. */
function spansOfRun({ begin, end, word }: Segment, sought: string): Span[] {
  if (!word.includes(sought)) return [];
  if (word.length !== end - begin) return [{ begin, end }];
  const spans: Span[] = [];
  for (let at = word.indexOf(sought); at >= 0; at = word.indexOf(sought, at + sought.length))
    spans.push({ begin: begin + at, end: begin + at + sought.length });
  return spans;
}

/** Joins spans that overlap. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: { begin: number; end: number }[] = [];
  for (const { begin, end } of spans.toSorted((a, b) => a.begin - b.begin)) {
    const last = merged.at(-1);
    if (last && begin < last.end) last.end = Math.max(last.end, end);
    else merged.push({ begin, end });
  }
  return merged;
}
