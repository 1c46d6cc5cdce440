import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { elements } from '#ast/form/elements.ts';
import { searchWords } from '../web/builder/model/element-groups.ts';

/* The console speaks to people: its sentences are read from its sources, all of them. */

const web = fileURLToPath(new URL('../web/', import.meta.url));

/** What nobody has to know who makes forms and reads answers. */
const forbidden =
  /\b(ids?|uuid|bytes?|null|boolean|integer|payload|endpoint|attributes?|attrs|composites?|nodes?|[A-Z]+_[A-Z]+|40\d|422|429)\b|\d ?KB\b/i;

/** Code that draws, and what is written for programs: the JSON of a form, and what a program is answered. */
const notSaid =
  /\.test\.|^(page|embed|docs)\/|^first-load|vite\.config|^builder\/(canvas|json|preview)\/|^builder\/model\/edit-node|^design\/qr-code|^webhooks\/workbench\/|^forms\/templates\/|^settings\/keys\/key-example/;

/** What names something for programs where that is the matter, and the start of a message that is said otherwise. */
const allowed: readonly string[] = [
  'Workspace id',
  'The latest 100, about a second after they were answered. Below each is the X-Request-Id of its answer.',
  'Element ids',
];

type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;

/** Every text of a source that has more than a word, as it would be read. */
function* textsOf(node: Node): Generator<string> {
  // What is imported and what a type is called is not read by anybody.
  if (/^(Import|TS)/.test(node.type) && !/^TS(As|Satisfies|NonNull)/.test(node.type)) return;
  const { value, quasis } = node;
  const text =
    node.type === 'TemplateLiteral'
      ? (quasis as { value: { cooked: string } }[]).map((part) => part.value.cooked).join(' … ')
      : node.type === 'Literal' || node.type === 'JSXText'
        ? value
        : undefined;
  if (typeof text === 'string' && /\w\s+\w/.test(text.trim())) yield text.replace(/\s+/g, ' ').trim();
  for (const child of Object.values(node).flat()) if (isNode(child)) yield* textsOf(child);
}

test('no sentence of the console has words that only programs need', () => {
  const found = globSync('**/*.{ts,tsx}', { cwd: web })
    .filter((path) => !notSaid.test(path))
    .flatMap((path) => {
      const { program } = parseSync(path, readFileSync(web + path, 'utf8'));
      return [...textsOf(program as unknown as Node)]
        .filter((text) => forbidden.test(text) && !allowed.includes(text))
        .map((text) => `${path}: ${text}`);
    });
  assert.deepEqual(found, []);
});

test('every type of element is found in the palette by words beside its title', () => {
  for (const [id, { title, words }] of Object.entries(elements)) {
    const others = words.split(' ').filter((word) => word && !title.toLowerCase().includes(word));
    assert.ok(others.length >= 2, `${id} has ${others.length} words`);
  }
  const found = (word: string): string[] =>
    Object.entries(elements)
      .map(([id, { title }]) => ({ id: id as keyof typeof elements, title }))
      .filter((entry) => searchWords(entry).includes(word))
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
