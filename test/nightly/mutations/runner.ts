import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import type { TestOptions } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client } from 'pg';
import { rememberHashes } from '../../group.ts';

/*
 * Runs test files in this process, again and again: each time all that they import of the tree is loaded anew, as it is
 * then. What comes from node_modules stays. A process of its own would first load half a second of those.
 */

/** A file, and which of its tests, by their places in it and in this order; all of them unless said. */
export type Chosen = { file: string; tests?: readonly number[] | undefined };
/** Runs the files in turn, up to the first test that fails. `measured`: of which sources it says what of them ran. */
export type Order = { files: readonly Chosen[]; measured: readonly string[] };
export type Range = { startOffset: number; endOffset: number; count: number };
/** What ran in a test of a file, or beside all of them (undefined): parts of sources by their address, named statements. */
export type Part = {
  test: number | undefined;
  ms: number;
  ran: [url: string, ranges: Range[]][];
  statements: string[];
};
/** In which file something failed, and in which of its tests, unless it was beside them. */
export type Failed = { file: string; test: number | undefined };
/**
 * `failed`: undefined when all passed. `isWorn`: the process holds what a test that failed left open, or too much memory, as
 * nothing that was loaded is ever let go.
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

/** As much of node:test as the tests use that may share a process. */
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

/** What cannot be closed after a failure is left to the end of the process. */
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
/** Notes the names of prepared statements: which test runs which, coverage cannot tell. */
function noteAndQuery(this: Client, ...given: unknown[]): unknown {
  const [asked] = given;
  if (typeof asked === 'object' && asked && 'name' in asked) statements.add(String(asked.name));
  return query.apply(this, given);
}
Object.assign(Client.prototype, { query: noteAndQuery });

let lookedAt = 0;
/** What ran since it was last asked, of the sources at these addresses. */
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

/** @returns what ran, and where it failed. */
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
