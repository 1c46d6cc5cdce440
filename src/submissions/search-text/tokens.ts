import { spacelessLetter, spacelessRun } from '#rules/search-rules.ts';
import { comparableWord } from './spellings.ts';

/**
 * A word of a text, or a run of a script that has no spaces between words. Positions are UTF-16 units of the
 * text.
 */
export type Segment = {
  readonly begin: number;
  readonly end: number;
  /** The text in NFKC and lower case. */
  readonly word: string;
  readonly isSpaceless: boolean;
  /** Words inside the word: `order` and `id` of `orderId`, `covid` and `19` of `covid19`. */
  readonly inner: readonly string[];
};

/**
 * Segments that only punctuation joins, such as a file name, a URL or `O'Brien`. A run of a spaceless script
 * stays alone.
 */
export type Token = readonly Segment[];

const joint = String.raw`[^\s\p{L}\p{M}\p{N}]{1,3}`;
const letters = String.raw`[\p{L}\p{M}\p{N}\u00ad\u200b-\u200d\u2060\ufeff]`;
const anyTokens = new RegExp(String.raw`[\p{L}\p{N}]${letters}*(?:${joint}[\p{L}\p{N}]${letters}*)*`, 'gu');
const asciiTokens = /[a-z0-9]+(?:[^\sa-z0-9]{1,3}[a-z0-9]+)*/gi;
const anyWords = new RegExp(String.raw`[\p{L}\p{N}]${letters}*`, 'gu');
const asciiWords = /[a-z0-9]+/gi;

const runs = new RegExp(String.raw`${spacelessRun}|(?:(?!${spacelessLetter})[^])+`, 'gu');
const isSpacelessRun = new RegExp(`^${spacelessLetter}`, 'u');

/** The number of letters of a word inside a word. Shorter ones say nothing. */
const leastInner = 2;

const noWords: readonly string[] = [];

/** Returns the parts of `iPhone15` and `getUserName`. A name of two parts, such as `YouTube`, is one word. */
function innerWords(text: string): readonly string[] {
  if (!/\p{N}\P{N}|\P{N}\p{N}|\p{Ll}\p{Lu}/u.test(text)) return noWords;
  const pieces = text.match(/\p{N}+|[^\p{N}]+/gu) ?? [];
  const words = pieces.flatMap((piece) => {
    const humps = piece.split(/(?<=\p{Ll})(?=\p{Lu})/u);
    return humps.length > 2 || /^\p{Ll}{2}/u.test(piece) ? humps : [piece];
  });
  return words.length < 2
    ? []
    : words.filter((word) => word.length >= leastInner).map((word) => comparableWord(word));
}

function segmentsOf(text: string, offset: number): Segment[] {
  const segments: Segment[] = [];
  for (const { 0: part, index } of text.matchAll(anyWords))
    for (const { 0: run, index: at } of part.matchAll(runs)) {
      const word = comparableWord(run);
      const begin = offset + index + at;
      const isSpaceless = isSpacelessRun.test(run);
      if (word !== '')
        segments.push({
          begin,
          end: begin + run.length,
          word,
          isSpaceless,
          inner: isSpaceless ? [] : innerWords(run),
        });
    }
  return segments;
}

/** Apostrophes that Unicode counts as letters, as in Hawaiʻi. */
const letterApostrophes = /[\u02b9-\u02bf]/g;

/** A word of ASCII letters or digits, perhaps between punctuation. Most words are. */
export const plainWord = /^["'(]?([a-z]+|[A-Z]+|[A-Z][a-z]+|[0-9]+)[.,;:!?)"']*$/;

function asciiTokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  asciiTokens.lastIndex = 0;
  for (let found = asciiTokens.exec(text); found; found = asciiTokens.exec(text)) {
    const token: Segment[] = [];
    asciiWords.lastIndex = 0;
    for (let part = asciiWords.exec(found[0]); part; part = asciiWords.exec(found[0])) {
      const begin = found.index + part.index;
      const word = part[0].toLowerCase();
      token.push({ begin, end: begin + word.length, word, isSpaceless: false, inner: innerWords(part[0]) });
    }
    tokens.push(token);
  }
  return tokens;
}

/** Returns the tokens of a text in their order. */
export function tokensOf(given: string): Token[] {
  if (/^[\0-\x7f]*$/.test(given)) return asciiTokensOf(given);
  const text = given.replaceAll(letterApostrophes, "'");
  const tokens: Token[] = [];
  for (const { 0: found, index } of text.matchAll(anyTokens)) {
    let joined: Segment[] = [];
    for (const segment of segmentsOf(found, index))
      if (segment.isSpaceless) {
        if (joined.length > 0) tokens.push(joined);
        joined = [];
        tokens.push([segment]);
      } else joined.push(segment);
    if (joined.length > 0) tokens.push(joined);
  }
  return tokens;
}

/** A longer pair is left out: people do not type it, and the index refuses words over 2 KB. */
const longestPair = 64;

/** Returns the words that two neighbors form together. */
const joinNeighbors = (words: readonly string[]): string[] =>
  words
    .slice(1)
    .map((word, at) => words[at]! + word)
    .filter((pair) => pair.length <= longestPair);

/** Returns the words that two neighbors of a token form together: `obrien` of `O'Brien`. */
export const pairsOf = (token: Token): string[] => joinNeighbors(token.map(({ word }) => word));

/**
 * Returns further pairs for a document: of words inside a word, and of the digits at the ends of words, so
 * that `2.10` finds `v2.10`.
 */
export function innerPairsOf(token: Token): string[] {
  const pairs = token.flatMap(({ inner }) => joinNeighbors(inner));
  for (const [at, { word }] of token.entries()) {
    const next = token[at + 1]?.word;
    if (next === undefined) break;
    const left = /\p{N}+$/u.exec(word)?.[0];
    const right = /^\p{N}+/u.exec(next)?.[0];
    if (left && right && (left !== word || right !== next)) pairs.push(...joinNeighbors([left, right]));
  }
  return pairs;
}

/** Returns the whole of an acronym with dots, `usa` of `U.S.A.`; undefined for other tokens. */
export const acronymOf = (token: Token): string | undefined =>
  token.length > 2 && token.every(({ word }) => word.length === 1)
    ? token.map(({ word }) => word).join('')
    : undefined;

const wordBoundary = /\p{sc=Kana}\p{sc=Han}|\p{sc=Han}\p{sc=Kana}/u;

/** A character with its marks. */
const characters = /\P{M}\p{M}*/gu;

/**
 * Returns the overlapping pairs of characters of a run. With `isQuery`, a run of one character is returned as
 * it is; a document also has its last character alone, so that a beginning of one character finds every
 * occurrence.
 */
export function characterPairs(run: string, { isQuery }: { isQuery: boolean }): string[] {
  const each = run.match(characters) ?? [];
  const pairs = each.slice(1).map((character, at) => each[at]! + character);
  if (!isQuery || each.length < 2) return [...pairs, ...each.slice(-1)];
  // Japanese can have a particle between a word in Katakana and one in Chinese characters.
  const inside = pairs.filter((pair) => !wordBoundary.test(pair));
  return inside.length > 0 ? inside : pairs;
}
