import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locales } from '#ast/basics/language-tags.ts';
import { formatNumber } from '#ast/rules/written-numbers.ts';
import { chooseLocale, chooseNumberLocale, problemsByLocale, wordsByLocale } from './choose-locale.ts';

/** Returns the `{names}` of a sentence in sorted order, because languages order them differently. */
const placesIn = (sentence: string): string[] => (sentence.match(/\{\w*\}/g) ?? []).sort();

/** The two sets of sentences, by name and language. */
const sets = {
  'the words of the page': wordsByLocale,
  'the sentences of the rules': problemsByLocale,
} as const;

for (const [what, set] of Object.entries(sets)) {
  const english: Readonly<Record<string, string>> = set.en;

  for (const locale of locales) {
    test(`${locale}: ${what} have all the sentences of English, with the same placeholders`, () => {
      const sentences: Readonly<Record<string, string>> = set[locale];
      assert.deepEqual(Object.keys(sentences), Object.keys(english));
      for (const [name, sentence] of Object.entries(sentences)) {
        assert.deepEqual(placesIn(sentence), placesIn(english[name]!), name);
        assert.notEqual(sentence.trim(), '', name);
      }
    });
  }

  test(`${what}: no other language contains English sentences`, () => {
    // Only sentences: the single word "No" is Spanish too.
    const long = Object.entries(english).filter(([, text]) => text.split(' ').length > 3);
    for (const locale of locales.filter((each) => each !== 'en')) {
      const sentences: Readonly<Record<string, string>> = set[locale];
      for (const [name, text] of long) assert.notEqual(sentences[name], text, `${locale}: ${name}`);
    }
  });
}

const choices: readonly (readonly [
  what: string,
  preferences: Parameters<typeof chooseLocale>[0],
  expected: string,
])[] = [
  ['nothing is known of the visitor', {}, 'en'],
  ['the browser asks for a language', { accepted: 'de' }, 'de'],
  ['it asks for a region of it', { accepted: 'pt-BR,pt;q=0.9' }, 'pt'],
  ['the browser asks for Belgian Dutch', { accepted: 'nl-BE,fr;q=0.8' }, 'nl'],
  ['the form lacks its first language', { accepted: 'sv,ja;q=0.8,en;q=0.5' }, 'ja'],
  ['weights are not in order', { accepted: 'en;q=0.2, fr;q=0.9' }, 'fr'],
  ['a language is ruled out', { accepted: 'fr;q=0, es;q=0.1' }, 'es'],
  ['the form has none of its languages', { accepted: 'sv,fi' }, 'en'],
  ['the header is nonsense', { accepted: ';;q=,,constructor;q=x' }, 'en'],
  ['the author set one', { setting: 'ar', accepted: 'de' }, 'ar'],
  ['the author left it to the browser', { setting: 'auto', accepted: 'zh-Hant-TW' }, 'zh'],
  ['the address asks for one', { asked: 'fr', setting: 'ar', accepted: 'de' }, 'fr'],
  ['the address asks for one that the form lacks', { asked: 'xx', setting: 'ar' }, 'ar'],
];
for (const [what, preferences, expected] of choices) {
  test(`the page is in ${expected} when ${what}`, () => assert.equal(chooseLocale(preferences), expected));
}

const numberChoices: readonly (readonly [language: string, accepted: string, expected: string])[] = [
  ['es', 'es-MX,es;q=0.9', 'es-mx'],
  ['es', 'es-GT', 'es-mx'],
  ['es', 'es-AR', 'es-ar'],
  ['es', 'es-ES', 'es'],
  ['en', 'en-US,en;q=0.9', 'en'],
  ['en', 'en-QQ', 'en'],
  ['en', 'en-001', 'en'],
  ['en', 'en-IN', 'en-in'],
  ['de', 'de-CH,fr-CH;q=0.8', 'de-ch'],
  ['fr', 'de-CH,fr-CH;q=0.8', 'fr-ch'],
  ['de', 'en-US', 'de'],
  ['pt-BR', 'pt-PT', 'pt-pt'],
  ['en', '', 'en'],
];
for (const [language, accepted, expected] of numberChoices) {
  test(`numbers of a page in ${language} for "${accepted}" are formatted as in ${expected}`, () =>
    assert.equal(chooseNumberLocale(language, accepted), expected));
}

test('visitors from many regions share the number formats that exist', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
  const regions = letters.flatMap((one) => letters.map((other) => one + other));
  const tags = new Set(regions.map((region) => chooseNumberLocale('en', `en-${region}`)));
  const texts = [...tags].map((tag) => formatNumber(-1_234_567.5, tag));
  assert.ok(tags.has('en') && tags.size > 1, [...tags].join(' '));
  assert.deepEqual(texts, [...new Set(texts)], 'no two tags have one format');
});
