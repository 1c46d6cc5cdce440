import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';

/*
 * Extracts every text that a person can read from the sources: strings, the English words of pages and
 * emails, templates and comments. test/strings.test.ts keeps the strings in test/strings. test/words.test.ts
 * checks how all texts are written.
 */
export const home = fileURLToPath(new URL('../', import.meta.url));

/** A text of a source. Template expressions appear as `…`. */
export type Sentence = { readonly file: string; readonly kind: 'text' | 'comment'; readonly text: string };

type Node = { readonly type: string } & Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** Calls, properties and attributes with texts for programs: SQL, class names, patterns. */
const programCalls = /^(statement|columns|sql|query|css|RegExp|word)$/;
const programProperties = /^(className|class|style|pattern|sql|viewBox|d|rel|sandbox|allow|accept)$/;
/** Properties with texts that a person reads even if they are a single word. */
const labels =
  /^(title|label|name|summary|text|heading|help|hint|empty|description|placeholder|button|confirm|aria-label|done|action|remedy)$/;

/** Returns the name of a called function: `statement` for `statement(…)`, `sql.statement(…)` and `statement(…)` with a template. */
function calledName({ callee, tag }: Node): string {
  const named = callee ?? tag;
  if (!isNode(named)) return '';
  if (named.type === 'CallExpression') return calledName(named);
  const last = named.type === 'MemberExpression' ? named['property'] : named;
  return isNode(last) && typeof last['name'] === 'string' ? last['name'] : '';
}

function keyOf({ type, key, name }: Node): string {
  const named = key ?? name;
  if (!/^(Property|JSXAttribute)$/.test(type) || !isNode(named)) return '';
  const text = named['name'] ?? named['value'];
  return typeof text === 'string' ? text : '';
}

function writtenText(node: Node): string | undefined {
  if (node.type === 'TemplateLiteral')
    return (node['quasis'] as { value: { cooked: string | null } }[])
      .map(({ value }) => value.cooked ?? '')
      .join('…');
  const { value } = node;
  return /^(Literal|JSXText)$/.test(node.type) && typeof value === 'string' ? value : undefined;
}

function* textsOf(node: Node, parentKey = ''): Generator<{ text: string; key: string; isMarkup: boolean }> {
  if (
    node.type === 'ImportDeclaration' ||
    (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)/.test(node.type))
  )
    return;
  if (/^(Call|New|TaggedTemplate)Expression$/.test(node.type) && programCalls.test(calledName(node))) return;
  const key = keyOf(node);
  if (programProperties.test(key)) return;
  const text = writtenText(node);
  if (text !== undefined)
    yield {
      text: text.replace(/\s+/g, ' ').trim(),
      key: key || parentKey,
      isMarkup: node.type === 'JSXText',
    };
  for (const [name, child] of Object.entries(node)) {
    // A property's key is a name for programs.
    if (name === 'key' && node.type === 'Property') continue;
    for (const each of [child].flat()) if (isNode(each)) yield* textsOf(each, key || parentKey);
  }
}

const isSql = (text: string): boolean =>
  /\b(where|join|and|from)\b.* (=|>=|<|in \() ?[$a-z(…]|\(select\b/.test(text) ||
  (/^[\s(]*(select|insert into|update|delete from|with|create|alter|drop|from|where|and|or|order by|left join|join|set|not exists|values|returning|lateral|union|exists|case|lock|begin|grant|listen|notify|truncate|copy|analyze|do|on conflict|limit)\b/.test(
    text,
  ) &&
    /[=(*$;_…]|\b(from|where|null|join|table|index|desc|asc)\b/.test(text));

/**
 * Whether a person reads a text: a label, or two or more words that are no SQL, selector, header or class
 * name.
 */
function isRead({ text, key, isMarkup }: { text: string; key: string; isMarkup: boolean }): boolean {
  if (
    isSql(text) ||
    /^([<.#@:)]|public, max-age|application\/|text\/|local\()/.test(text) ||
    /=>|::|\) from \(/.test(text)
  )
    return false;
  if (/[A-Za-z’']{2,}[,;:.]? +[“"'(`…]?[A-Za-z…]/.test(text))
    return (
      /[^a-z0-9_. -]/.test(text) ||
      /\b(the|a|an|is|are|of|to|and|or|not|in|for|by|has|cannot|must|was|no)\b/.test(text)
    );
  return isMarkup ? /[A-Za-z]{3}/.test(text) : labels.test(key) && /^[A-Z][a-z’]+[.…?]?$/.test(text);
}

/** Joins multiline comments and removes their markers. Paragraphs and tags keep their own lines. */
function commentsOf(
  source: string,
  comments: readonly { type: string; start: number; end: number }[],
): string[] {
  const joined: { end: number; isLine: boolean; text: string }[] = [];
  for (const { type, start, end } of comments) {
    const text = source
      .slice(start, end)
      .replace(/^\/[*/]+|\*\/$/g, '')
      .replace(/^[ \t]*\* ?/gm, '');
    const last = joined.at(-1);
    const isLine = type === 'Line';
    if (isLine && last?.isLine && /^[ \t]*\n[ \t]*$/.test(source.slice(last.end, start))) {
      last.end = end;
      last.text += ` ${text}`;
    } else joined.push({ end, isLine, text });
  }
  return joined.map(({ text }) =>
    text
      .split(/\n(?=\s*(?:@|- |npm |--|[A-Z_]+=|\n))/)
      .map((part) => part.replace(/\s+/g, ' ').trim())
      .filter(Boolean)
      .join('\n'),
  );
}

function* jsonTexts(value: unknown, key = ''): Generator<string> {
  if (typeof value === 'string') {
    if (!/^(id|type|layout)$/.test(key) && /^[A-Z“]| /.test(value)) yield value;
  } else if (typeof value === 'object' && value !== null)
    for (const [name, each] of Object.entries(value))
      yield* jsonTexts(each, Array.isArray(value) ? key : name);
}

/**
 * The texts of each source. Parsing all sources takes 4 s of CPU, so tests that import this file share a
 * process (groups.ts).
 */
const parsedSources = new Map<string, readonly Sentence[]>();

/**
 * Returns the texts of the production sources that match `patterns`, in order and without repeats within a
 * file.
 */
export function sentencesOf(patterns: readonly string[]): Sentence[] {
  const files = globSync(patterns, { cwd: home })
    .filter((file) => !/\.test\.tsx?$|\.external\.|\/testing\.ts$/.test(file))
    .toSorted();
  return files.flatMap((file) => {
    const known = parsedSources.get(file) ?? readSentences(file);
    parsedSources.set(file, known);
    return known;
  });
}

function readSentences(file: string): Sentence[] {
  const source = readFileSync(home + file, 'utf8');
  if (file.endsWith('.json')) {
    const texts = [...jsonTexts(JSON.parse(source))].map((text) => text.replace(/\s+/g, ' ').trim());
    return [...new Set(texts)].map((text) => ({ file, kind: 'text', text }) as const);
  }
  const { program, comments } = parseSync(file, source);
  const texts = [...textsOf(program as unknown as Node)].filter(isRead).map(({ text }) => text);
  return [
    ...[...new Set(texts)].map((text) => ({ file, kind: 'text', text }) as const),
    ...commentsOf(source, comments).map((text) => ({ file, kind: 'comment', text }) as const),
  ];
}

/** Returns the titles of tests below a node, and their cases as `…`. */
function* titlesOf(node: Node): Generator<string> {
  if (node.type === 'CallExpression' && calledName(node) === 'test') {
    const title = writtenText((node['arguments'] as Node[])[0]!);
    if (title !== undefined) yield title;
  }
  for (const child of Object.values(node).flat()) if (isNode(child)) yield* titlesOf(child);
}

/** Returns the titles and comments of tests and other sources that are not part of the service. */
export function testSentencesOf(patterns: readonly string[]): Sentence[] {
  return globSync(patterns, { cwd: home }).flatMap((file) => {
    const source = readFileSync(home + file, 'utf8');
    const { program, comments } = parseSync(file, source);
    return [
      ...[...titlesOf(program as unknown as Node)].map((text) => ({ file, kind: 'text', text }) as const),
      ...commentsOf(source, comments).map((text) => ({ file, kind: 'comment', text }) as const),
    ];
  });
}

/** Returns the sources of one room: code, the English words of pages and emails, templates and examples. */
export const sourcesOf = (room: string): string[] => [
  `${room}/**/*.{ts,tsx}`,
  `${room}/**/words/en.json`,
  `${room}/**/{templates/*,example-texts}.json`,
];
