import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { elementDefinitions } from '#ast/form/elements.ts';
import { searchTextOfEntry } from '../web/builder/model/element-groups.ts';
import { home, sentencesOf, testSentencesOf } from './sentences.ts';

/*
 * Checks how everything that people read is written: strings, comments and docs follow the rules of
 * CONTRIBUTING.md.
 */

/** Patterns that slow a reader down, by what to write instead. */
const patterns: Readonly<Record<string, RegExp>> = {
  'name the person: member, visitor, operator, client':
    /\b(whoever|nobody|every ?body|some ?body|any ?body)\b/i,
  'say what is missing': /\b(what|which|who|that) (is|was|are|were) none\b/i,
  'name the earlier or later thing': /\bof (before|then)\b/i,
  'name the thing instead of "the same"': /\bthe same of\b/i,
  '"before", "until" or "at that time"': /\bby then\b/i,
  '"if", "where" or "up to"': /\bas far as\b/i,
  '"also"': /\blikewise\b/i,
  '"everything else", "other"': /\ball else\b/i,
  'name the actor': /\b(is|are|was|were|be) (said|told|heard|asked) of\b/i,
  'name the thing': /\b(such a one|one that is none|is no more|are no more)\b/i,
  '"continues"': /\b(goes|go|went) on\b/i,
};
const longestSentence = 30;

/** Sentences that may keep a pattern, with the reason. */
const exceptions: readonly (readonly [text: string, reason: string])[] = [
  ['`nobody`', 'the name of an account of the system'],
  ['chown -R nobody', 'the name of an account of the system'],
  ['or else as nobody', 'the name of an account of the system'],
  ['whoever runs it', 'the glossary names what it replaces'],
];

const docs = globSync(['*.md', 'docs/**/*.md', '{src,web}/**/README.md', 'clients/*/README.md'], {
  cwd: home,
});
/** Returns the prose of a page by paragraph or cell, without code, link URLs and markup. */
const proseOf = (page: string): string[] =>
  page
    .replace(/^ *```[^]*?^ *```/gm, '')
    .replace(/<!--[^]*?-->/g, '')
    .replace(/`[^`\n]*`/g, 'x')
    .replace(/\]\([^)]*\)/g, ']')
    .split(/\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.) ?)|\|/)
    .map((text) => text.replace(/\s+/g, ' ').trim())
    .filter(Boolean);

const written: readonly { file: string; text: string }[] = [
  ...sentencesOf(['{src,web}/**/*.{ts,tsx}', 'src/**/words/en.json', 'web/forms/templates/*.json']),
  ...testSentencesOf(['{src,web}/**/*.test.{ts,tsx}', '{test,bench,deploy}/**/*.{ts,mjs}', '*.mjs']),
  ...docs.flatMap((file) => proseOf(readFileSync(home + file, 'utf8')).map((text) => ({ file, text }))),
].filter(({ text }) => exceptions.every(([excepted]) => !text.includes(excepted)));

for (const [advice, pattern] of Object.entries(patterns))
  test(`no text matches ${pattern.source}: ${advice}`, () => {
    const found = written.filter(({ text }) => pattern.test(text));
    assert.deepEqual(
      found.map(({ file, text }) => `${file}: ${text}`),
      [],
    );
  });

test(`no sentence has more than ${longestSentence} words`, () => {
  const found = written.flatMap(({ file, text }) =>
    text
      .split(/ \| |(?<=[.:;!?)]["”’)]?)\s+|\n|…/)
      .filter((sentence) => sentence.split(' ').length > longestSentence)
      .map((sentence) => `${file}: ${sentence}`),
  );
  assert.deepEqual(found, []);
});

/** Words that a person who makes forms and reads answers does not need to know. */
const forbidden =
  /\b(ids?|uuid|bytes?|null|boolean|integer|payload|endpoint|attributes?|attrs|composites?|nodes?|[A-Z]+_[A-Z]+|40\d|422|429)\b|\d ?KB\b/i;
/** Sources that draw, and sources with texts for programs: a form’s JSON, API responses, the field ID. */
const notForMakers =
  /^web\/((page|embed|docs)\/|first-load|vite\.config|builder\/(canvas|json)\/|builder\/model\/edit-node|builder\/panel\/id-input|design\/qr-code|webhooks\/workbench\/|forms\/templates\/|settings\/keys\/key-example)/;
/** Texts about technical names that must mention them. */
const allowed: readonly string[] = [
  'Workspace ID',
  'A message. Enter https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>.',
  'Placeholders: {{form_name}}, {{answers}}, {{submission_url}}, and paths of the event, such as {{submission.responses.email}}.',
  'Placeholders: the IDs of questions, such as {{email}}, {{form_name}}, {{answers}}, {{submission_url}}, and paths of the event, such as {{submission.id}}.',
  'Webhook ID',
  'webhook ID',
  'delivery ID',
  'request ID',
  'Element ids',
  'Field IDs',
  'Anyone with the link can fill it in. Field IDs cannot change after publishing.',
];

test('no console text contains technical terms that only programs need', () => {
  const found = sentencesOf(['web/**/*.{ts,tsx}'])
    .filter(({ file, kind, text }) => kind === 'text' && !notForMakers.test(file) && /\w\s+\w/.test(text))
    .filter(({ text }) => forbidden.test(text) && !allowed.includes(text) && !/X-Request-Id/.test(text));
  assert.deepEqual(
    found.map(({ file, text }) => `${file}: ${text}`),
    [],
  );
});

test('the palette finds every element type by words other than its title', () => {
  for (const [id, { title, words }] of Object.entries(elementDefinitions)) {
    const others = words.split(' ').filter((word) => word && !title.toLowerCase().includes(word));
    assert.ok(others.length >= 2, `${id} has ${others.length} words`);
  }
  const found = (word: string): string[] =>
    Object.entries(elementDefinitions)
      .map(([id, { title }]) => ({ id: id as keyof typeof elementDefinitions, title }))
      .filter((entry) => searchTextOfEntry(entry).includes(word))
      .map(({ id }) => id);
  for (const [word, id] of [
    ['stars', 'rating'],
    ['nps', 'scale'],
    ['likert', 'matrix'],
    ['likert', 'scale'],
    ['grid', 'matrix'],
    ['sign', 'signature'],
    ['gdpr', 'consent'],
    ['terms', 'consent'],
    ['utm', 'hidden'],
    ['score', 'calculation'],
    ['birthday', 'date'],
    ['upload', 'file_upload'],
    ['order', 'ranking'],
    ['checkbox', 'multiple_choice'],
  ] as const)
    assert.ok(found(word).includes(id), `${id} by ${word}`);
});
