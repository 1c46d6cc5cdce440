import type { SearchLanguage } from '#ast/basics/languages.ts';
import { commonTerms, commonWordsOf, compoundTerms } from './language-words.ts';
import { digitRuns, foldedSpellings, readDigits } from './spellings.ts';
import { acronymOf, characterPairs, innerPairsOf, pairsOf, plainWord, tokensOf } from './tokens.ts';

/** The terms of a text. */
type IndexedText = {
  /** Words to stem, separated by spaces. */
  words: string;
  /** The spellings without accents of words that have some. */
  folded: string;
  /** Terms that are not stemmed. */
  terms: string[];
};

/** The bytes of all terms of a document and of their prefixes. PostgreSQL damages terms above 1 MB. */
const mostBytes = 1_000_000;
const bytesPerTerm = 12;
/** PostgreSQL damages longer terms. Their parts are indexed nevertheless. */
const longestTerm = 500;

/** Returns the terms that fit, and reduces the bytes that are left by them. */
function keepFitting(terms: Iterable<string>, room: { bytes: number }): string[] {
  const kept: string[] = [];
  for (const term of terms) {
    const bytes = Buffer.byteLength(term) + bytesPerTerm;
    if (term.length > longestTerm || bytes > room.bytes) continue;
    room.bytes -= bytes;
    kept.push(term);
  }
  return kept;
}

/**
 * Returns the terms of a text (docs/decisions/0112-words-of-the-index.md). If not all of them fit, whole words
 * come first.
 */
function indexText(text: string, language: SearchLanguage, room: { bytes: number }): IndexedText {
  const words = new Set<string>();
  const parts = new Set<string>();
  const terms = new Set<string>();
  const common = commonWordsOf(language);
  let commonBefore: string | undefined;
  const addCommon = (word: string): void => {
    if (common.has(word)) {
      const found = commonTerms(commonBefore === undefined ? [word] : [commonBefore, word]);
      for (const term of [...found.words, ...found.pairs]) terms.add(term);
      commonBefore = word;
    } else commonBefore = undefined;
  };
  const addTokens = (written: string): void => {
    for (const token of tokensOf(written)) {
      for (const { word, isSpaceless, inner } of token) {
        if (isSpaceless) for (const pair of characterPairs(word, { isQuery: false })) terms.add(pair);
        else words.add(word);
        for (const each of inner) parts.add(each);
        addCommon(word);
      }
      if (token.length === 1 && token[0]!.inner.length === 0) continue;
      for (const pair of pairsOf(token)) parts.add(pair);
      for (const pair of innerPairsOf(token)) parts.add(pair);
      const acronym = acronymOf(token);
      if (acronym !== undefined) parts.add(acronym);
    }
  };
  for (const line of text.split('\n')) {
    commonBefore = undefined;
    for (const written of line.split(/\s+/)) {
      const plain = plainWord.exec(written)?.[1]?.toLowerCase();
      if (plain === undefined) {
        addTokens(written);
        continue;
      }
      words.add(plain);
      if (common.size > 0) addCommon(plain);
    }
    for (const { text: run } of digitRuns(line)) {
      const { whole, national } = readDigits(run);
      words.add(whole).add(national);
    }
  }
  if (language === 'german')
    for (const word of [...words, ...parts]) {
      const compound = compoundTerms(word);
      for (const part of compound.parts) parts.add(part);
      for (const end of compound.ends) terms.add(end);
    }
  const kept = keepFitting(words, room);
  const keptTerms = keepFitting(terms, room);
  kept.push(...keepFitting(parts.difference(words), room));
  const folded = keepFitting(new Set(kept.flatMap(foldedSpellings)), room);
  return { words: kept.join(' '), folded: folded.join(' '), terms: keptTerms };
}

/** Returns the parameters of a search document. `body` has the words of the subject, too. */
export function indexSubmission(
  { subject, body }: { subject: string; body: string },
  language: SearchLanguage,
) {
  // The words of the subject are stored twice.
  const inSubject = indexText(subject, language, { bytes: mostBytes / 4 });
  const anywhere = indexText(subject === '' ? body : `${subject}\n${body}`, language, {
    bytes: (mostBytes * 3) / 4,
  });
  return {
    language,
    subject: inSubject.words,
    subject_folded: inSubject.folded,
    subject_terms: inSubject.terms,
    body: anywhere.words,
    body_folded: anywhere.folded,
    body_terms: anywhere.terms,
  };
}
