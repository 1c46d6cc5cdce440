import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import type { TestOptions } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { rememberHashes } from '../../group.ts';

/*
 * Runs test files repeatedly in this process. Each run reloads everything they import from the tree. Modules
 * of node_modules stay loaded, because loading them in a new process takes half a second.
 */

/** A file, and the indexes of its tests to run in this order. Default: all tests. */
export type Chosen = { file: string; tests?: readonly number[] | undefined };
/**
 * Runs the files in order up to the first failing test. `measured` lists the sources to report coverage for.
 */
export type Order = { files: readonly Chosen[]; measured: readonly string[] };
export type Range = { startOffset: number; endOffset: number; count: number };
/**
 * The coverage of a test, or of code outside all tests (undefined): ranges of sources by URL, and named
 * statements.
 */
export type Part = {
  test: number | undefined;
  ms: number;
  ran: [url: string, ranges: Range[]][];
  statements: string[];
};
/** The file that failed, and the index of its test unless it failed outside of tests. */
export type Failed = { file: string; test: number | undefined };
/**
 * `failed` is undefined if all passed. `isWorn`: a failed test left something open, or the process uses too
 * much memory, because loaded modules are never freed.
 */
export type Outcome = { failed?: Failed | undefined; parts: Part[]; isWorn: boolean };

const tree = pathToFileURL(`${process.cwd()}/`).href;
let generation = 0;
const compiled = new Map<string, { text: string; source: string }>();

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'node:test' && context.parentURL?.includes('?g='))
      return { url: `formloom:test?g=${generation}`, format: 'module', shortCircuit: true };
    const found = next(specifier, context);
    const isOfTree = found.url.startsWith(tree) && found.url.endsWith('.ts');
    return isOfTree ? { ...found, url: `${found.url}?g=${generation}` } : found;
  },
  load(url, context, next) {
    if (url.startsWith('formloom:test'))
      return {
        format: 'module',
        shortCircuit: true,
        source: 'export const { test, after, beforeEach } = globalThis.ofTests;',
      };
    if (!url.includes('?g=')) return next(url, context);
    const path = fileURLToPath(url.replace(/\?.*/, ''));
    const text = readFileSync(path, 'utf8');
    const known = compiled.get(path);
    const source = known?.text === text ? known.source : stripTypeScriptTypes(text);
    compiled.set(path, { text, source });
    return { format: 'module', shortCircuit: true, source };
  },
});

type Body = (context: object) => unknown;

/** The subset of node:test used by tests that may share a process. */
let tests: Body[] = [];
let endings: (() => unknown)[] = [];
let beginnings: (() => unknown)[] = [];
let hasFailed = false;

async function runTest(body: Body): Promise<void> {
  const ends: (() => unknown)[] = [];
  try {
    for (const begin of beginnings) await begin();
    await body({ after: (end: () => unknown) => void ends.push(end), diagnostic: () => {}, skip: () => {} });
  } catch {
    hasFailed = true;
  }
  await runEndings(ends);
}

/** The end of the process closes what cannot be closed after a failure. */
async function runEndings(ends: readonly (() => unknown)[]): Promise<void> {
  for (const end of ends)
    try {
      await end();
    } catch {
      hasFailed = true;
    }
}

const ofTests = {
  test(_name: string, options: TestOptions | Body, body?: Body): void {
    const isSkipped = typeof options === 'object' && options.skip;
    tests.push(isSkipped ? () => {} : typeof options === 'function' ? options : body!);
  },
  after: (end: () => unknown): void => void endings.push(end),
  beforeEach: (begin: () => unknown): void => void beginnings.push(begin),
};
Object.assign(globalThis, { ofTests });
for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, () => (hasFailed = true));

const session = new Session();
session.connect();
const statements = new Set<string>();
const query = Reflect.get(Client.prototype, 'query') as (this: Client, ...given: unknown[]) => unknown;
/** Records the texts of prepared statements, because coverage cannot tell which test runs which. */
function noteAndQuery(this: Client, ...given: unknown[]): unknown {
  const [asked] = given;
  if (typeof asked === 'object' && asked && 'name' in asked && 'text' in asked)
    statements.add(String(asked.text));
  return query.apply(this, given);
}
Object.assign(Client.prototype, { query: noteAndQuery });

let lookedAt = 0;
/** Returns the coverage since the last call, for the sources at these URLs. */
async function takePart(test: number | undefined, urls: ReadonlySet<string>): Promise<Part[]> {
  if (urls.size === 0) return [];
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result
    .filter(({ url }) => url.endsWith(`?g=${generation}`))
    .map(({ url, functions }): Part['ran'][number] => [
      url.replace(/\?.*/, ''),
      functions.flatMap(({ ranges }) => ranges),
    ])
    .filter(([url]) => urls.has(url));
  const part = { test, ms: performance.now() - lookedAt, ran, statements: [...statements] };
  statements.clear();
  lookedAt = performance.now();
  return [part];
}

/**
 * Runs a file.
 * @returns the coverage, and where it failed.
 */
async function runFile(
  { file, tests: chosen }: Chosen,
  urls: ReadonlySet<string>,
): Promise<Pick<Outcome, 'failed' | 'parts'>> {
  [tests, endings, beginnings] = [[], [], []];
  lookedAt = performance.now();
  const parts: Part[] = [];
  let failed: Failed | undefined;
  const look = async (test: number | undefined): Promise<void> => {
    parts.push(...(await takePart(test, urls)));
    if (hasFailed) failed ??= { file, test };
  };
  try {
    await import(`${tree}${file}`);
  } catch {
    hasFailed = true;
  }
  await look(undefined);
  for (const test of chosen ?? tests.keys()) {
    if (failed) break;
    await runTest(tests[test]!);
    await look(test);
  }
  await runEndings(endings);
  await look(undefined);
  return { failed, parts };
}

async function obey({ files, measured }: Order): Promise<Outcome> {
  generation += 1;
  hasFailed = false;
  const urls = new Set(measured.map((source) => `${tree}${source}`));
  let failed: Failed | undefined;
  const parts: Part[] = [];
  if (urls.size > 0) await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  for (const chosen of files) {
    const found = await runFile(chosen, urls);
    parts.push(...found.parts);
    failed = found.failed;
    if (failed) break;
  }
  if (urls.size > 0) await session.post('Profiler.stopPreciseCoverage');
  const isLeft = failed !== undefined && process.getActiveResourcesInfo().length > resources;
  return { failed, parts, isWorn: isLeft || process.memoryUsage().rss > mostBytes };
}

const mostBytes = 1.5 * 2 ** 30;

rememberHashes();
await session.post('Profiler.enable');
const resources = process.getActiveResourcesInfo().length + 1;
process.on('message', (order: Order) => {
  void obey(order).then((outcome) => process.send!(outcome));
});
process.send!('ready');
