import { countCharacters } from '#ast/basics/text.ts';
import { commonTerms, isCommonWord, partBeginnings } from '#submissions/search-text/language-words.ts';
import { digitRuns, foldedSpellings, readDigits } from '#submissions/search-text/spellings.ts';
import {
  acronymOf,
  characterPairs,
  pairsOf,
  type Segment,
  type Token,
  tokensOf,
} from '#submissions/search-text/tokens.ts';

/**
 * How a row of a query is searched. The rows of a group are alternatives: one of them must be met. A group is
 * a word as it was typed.
 * - `exact`: all words of the text, stemmed; documents with it rank above others
 * - `loose`: the same for other spellings
 * - `terms`: all terms, separated by line breaks, as they are; these are exact, too
 * - `term_beginning`: a term with this beginning
 * - `beginning`: a word that begins with one of these, as typed or as stemmed
 * - `address`: a term of addresses in documents of the previous rules
 * - `part`: a beginning of a term, in German documents only
 * - `old`: the text as documents of the previous rules have it
 * - `common`, `common_apart`: terms of words that a language leaves out, used if the language leaves out all
 *   words of the query (or of the phrase). The first is exact.
 */
export type SoughtKind =
  | 'exact'
  | 'loose'
  | 'terms'
  | 'term_beginning'
  | 'beginning'
  | 'address'
  | 'part'
  | 'old'
  | 'common'
  | 'common_apart';

/** Words of a query as parameters of statements. The numbers of excluded groups are negative. */
export type SoughtWords = { word_groups: number[]; word_kinds: SoughtKind[]; word_texts: string[] };

/** The group of words that a language leaves out, for queries that have no others. */
const everyWord = 0;

/** Collects the words of a query. */
export class WordCompiler {
  readonly words: SoughtWords = { word_groups: [], word_kinds: [], word_texts: [] };
  /** Whether matches are ranked by their spelling even if there are very many. */
  isSpelled = false;
  /** Whether the query asks for words, even if no submission can have them. */
  hasWords = false;
  #groups = 0;
  #typed: string[] = [];

  /** Adds a text whose words must all be present. With `isQuoted`, its words must stay as they are joined. */
  addText(text: string, { isQuoted = false, isNot = false } = {}): void {
    this.hasWords ||= !isNot && text !== '';
    if (isQuoted && !isNot && this.#addCommonPhrase(text)) return;
    const runs = digitRuns(text);
    for (const { text: run } of runs) this.#addDigits(run, isNot);
    const rest = runs.reduceRight(
      (left, { begin, end }) => left.slice(0, begin) + ' '.repeat(end - begin) + left.slice(end),
      text,
    );
    if (!isNot) this.#typed.push(...runs.map((run) => run.text));
    // "note:late" is two words if no form has the element "note".
    const words = isQuoted ? rest : rest.replaceAll(/(?<=\p{L}):(?=\p{L})/gu, ' ');
    for (const token of tokensOf(words)) {
      if (!isNot) this.#typed.push(...token.map(({ word }) => word));
      this.#addToken(token, words, { isQuoted, isNot });
    }
  }

  /** Adds a group of which any of the beginnings, separated by spaces, must be present. */
  addBeginnings(text: string, { isNot = false } = {}): void {
    this.#groups += 1;
    this.hasWords ||= !isNot;
    this.#add('beginning', text.toLowerCase(), isNot);
    for (const folded of foldedSpellings(text.toLowerCase())) this.#add('beginning', folded, isNot);
  }

  /** Adds an email address, its domain, or the part before the @. */
  addAddress(text: string): void {
    this.hasWords = true;
    const tokens = tokensOf(text);
    for (const token of tokens) this.#addToken(token, text, { isQuoted: true, isNot: false });
    if (tokens.length === 0) this.#groups += 1;
    this.#add('address', text.toLowerCase(), false);
  }

  /** Ends the query: if all words may be common words, they are also searched as such. */
  finish(): SoughtWords {
    this.#addCommon(everyWord, this.#typed, false);
    return this.words;
  }

  #add(kind: SoughtKind, text: string, isNot: boolean): void {
    const group = this.#groups;
    this.words.word_groups.push(isNot ? -group : group);
    this.words.word_kinds.push(kind);
    this.words.word_texts.push(text);
  }

  /** Adds a phrase as one group if a language may leave out all its words. */
  #addCommonPhrase(text: string): boolean {
    const words = tokensOf(text)
      .flat()
      .map(({ word }) => word);
    if (words.length === 0 || !words.every(isCommonWord)) return false;
    this.#groups += 1;
    this.#add('exact', words.join(' '), false);
    this.#addCommon(this.#groups, words, true);
    return true;
  }

  #addCommon(group: number, words: readonly string[], isQuoted: boolean): void {
    if (words.length === 0 || !words.every(isCommonWord)) return;
    const terms = commonTerms(words);
    const add = (kind: SoughtKind, texts: string[]): void => {
      this.words.word_groups.push(group);
      this.words.word_kinds.push(kind);
      this.words.word_texts.push(texts.join('\n'));
    };
    add('common', terms.pairs.length > 0 ? terms.pairs : terms.words);
    if (!isQuoted && terms.pairs.length > 0) {
      this.isSpelled = true;
      add('common_apart', terms.words);
    }
  }

  #addSpellings(kind: 'exact' | 'loose', words: readonly string[], isNot: boolean): void {
    const text = words.join(' ');
    this.#add(kind, text, isNot);
    for (const folded of foldedSpellings(text)) {
      this.isSpelled = true;
      this.#add('loose', folded, isNot);
    }
  }

  #addDigits(run: string, isNot: boolean): void {
    this.#groups += 1;
    const { whole, national } = readDigits(run);
    this.#add('exact', whole, isNot);
    if (national !== whole) this.#add('loose', national, isNot);
    const parts = tokensOf(run)
      .flat()
      .map(({ word }) => word);
    if (parts.length > 1 || parts[0] !== whole) {
      this.#add('loose', parts.join(' '), isNot);
      this.#add('old', run, isNot);
    }
  }

  #addToken(token: Token, text: string, { isQuoted, isNot }: { isQuoted: boolean; isNot: boolean }): void {
    this.#groups += 1;
    const [{ word, isSpaceless, inner }] = token as unknown as readonly [Segment];
    const written = text.slice(token[0]!.begin, token.at(-1)!.end);
    if (isSpaceless) {
      const pairs = characterPairs(word, { isQuery: true });
      const isOne =
        pairs.length === 1 && pairs[0] === word && countCharacters(word.replaceAll(/\p{M}/gu, '')) === 1;
      this.#add(isOne ? 'term_beginning' : 'terms', pairs.join('\n'), isNot);
      this.#add('old', written, isNot);
      return;
    }
    if (token.length === 1) {
      this.#addSpellings('exact', [word], isNot);
      if (inner.length > 1) this.#addSpellings('loose', inner, isNot);
      if (!isNot && !isQuoted) for (const part of partBeginnings(word)) this.#add('part', part, isNot);
      return;
    }
    this.isSpelled = true;
    const pairs = pairsOf(token);
    if (pairs.length > 0) this.#addSpellings('exact', pairs, isNot);
    const acronym = acronymOf(token);
    if (acronym !== undefined) this.#add('loose', acronym, isNot);
    // The parts of an address or a file name say little apart.
    const isName = /[.@:]/.test(written);
    if (pairs.length === 0 || !(isQuoted || isName))
      this.#addSpellings(
        'loose',
        token.map((part) => part.word),
        isNot,
      );
    this.#add('old', written, isNot);
  }
}

/** Returns the words of a text whose words must all be present. */
export function compileWords(text: string): SoughtWords & { is_spelled: boolean } {
  const compiler = new WordCompiler();
  compiler.addText(text);
  return { ...compiler.finish(), is_spelled: compiler.isSpelled };
}
