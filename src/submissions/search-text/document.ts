import type { SearchLanguage } from '#ast/basics/languages.ts';
import { commonTerms, commonWordsOf, compoundTerms } from './language-words.ts';
import { digitRuns, foldedSpellings, readDigits } from './spellings.ts';
import { acronymOf, characterPairs, innerPairsOf, pairsOf, plainWord, tokensOf } from './tokens.ts';

/** A text as the index has it. */
type IndexedText = {
  /** Words to stem, separated by spaces. */
  words: string;
  /** The spellings without accents of words that have some. */
  folded: string;
  /** Terms that are not stemmed. */
  terms: string[];
};

/** Returns what the index has of a text (docs/decisions/0112-words-of-the-index.md). */
function indexText(text: string, language: SearchLanguage): IndexedText {
  const words = new Set<string>();
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
  const addTokens = (part: string): void => {
    for (const token of tokensOf(part)) {
      for (const { word, isSpaceless, inner } of token) {
        if (isSpaceless) for (const pair of characterPairs(word, { isQuery: false })) terms.add(pair);
        else words.add(word);
        for (const each of inner) words.add(each);
        addCommon(word);
      }
      if (token.length === 1 && token[0]!.inner.length === 0) continue;
      for (const pair of pairsOf(token)) words.add(pair);
      for (const pair of innerPairsOf(token)) words.add(pair);
      const acronym = acronymOf(token);
      if (acronym !== undefined) words.add(acronym);
    }
  };
  for (const line of text.split('\n')) {
    commonBefore = undefined;
    for (const part of line.split(/\s+/)) {
      const plain = plainWord.exec(part)?.[1]?.toLowerCase();
      if (plain === undefined) {
        addTokens(part);
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
  const compounds = language === 'german' ? Array.from(words) : [];
  for (const word of compounds) {
    const { parts, ends } = compoundTerms(word);
    for (const part of parts) words.add(part);
    for (const end of ends) terms.add(end);
  }
  const folded = new Set([...words].flatMap(foldedSpellings));
  return { words: [...words].join(' '), folded: [...folded].join(' '), terms: [...terms] };
}

/** Returns the parameters of a search document. `body` has the words of the subject, too. */
export function indexSubmission(
  { subject, body }: { subject: string; body: string },
  language: SearchLanguage,
) {
  const inSubject = indexText(subject, language);
  const anywhere = subject === '' ? indexText(body, language) : indexText(`${subject}\n${body}`, language);
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
