import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import type { TestOptions } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

/*
 * Runs test files in this process, again and again: each time all that they import of the tree is loaded anew, as it is
 * then. What comes from node_modules stays. A process of its own would first load half a second of those.
 */

/** Runs the files in turn, up to the first test that fails. `isMeasured`: says which parts of the sources ran. */
export type Order = { files: readonly string[]; isMeasured: boolean };
export type Range = { startOffset: number; endOffset: number; count: number };
/**
 * `failed`: in which file something failed, undefined when all passed. `ran`: by the address of each source. `isWorn`: the
 * process holds what a test that failed left open, or too much memory, as nothing that was loaded is ever let go.
 */
export type Outcome = { failed?: string | undefined; ran: [url: string, ranges: Range[]][]; isWorn: boolean };

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
let chain: Promise<void> = Promise.resolve();
let endings: (() => unknown)[] = [];
let beginnings: (() => unknown)[] = [];
let hasFailed = false;

async function runTest(body: Body): Promise<void> {
  if (hasFailed) return;
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
  test(_name: string, options: TestOptions | Body, body?: Body): Promise<void> {
    const isSkipped = typeof options === 'object' && options.skip;
    if (!isSkipped) chain = chain.then(() => runTest(typeof options === 'function' ? options : body!));
    return chain;
  },
  after: (end: () => unknown): void => void endings.push(end),
  beforeEach: (begin: () => unknown): void => void beginnings.push(begin),
};
Object.assign(globalThis, { ofTests });
for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, () => (hasFailed = true));

async function runFile(file: string): Promise<void> {
  [chain, endings, beginnings] = [Promise.resolve(), [], []];
  try {
    await import(`${tree}${file}`);
  } catch {
    hasFailed = true;
  }
  await chain;
  await runEndings(endings);
}

const session = new Session();
session.connect();

async function obey({ files, isMeasured }: Order): Promise<Outcome> {
  generation += 1;
  hasFailed = false;
  let failed: string | undefined;
  if (isMeasured) await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  for (const file of files) {
    await runFile(file);
    if (!hasFailed) continue;
    failed = file;
    break;
  }
  const ran: Outcome['ran'] = [];
  if (isMeasured) {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    await session.post('Profiler.stopPreciseCoverage');
    for (const { url, functions } of result)
      if (url.endsWith(`?g=${generation}`))
        ran.push([url.replace(/\?.*/, ''), functions.flatMap(({ ranges }) => ranges)]);
  }
  const isLeft = failed !== undefined && process.getActiveResourcesInfo().length > resources;
  return { failed, ran, isWorn: isLeft || process.memoryUsage().rss > mostBytes };
}

const mostBytes = 1.5 * 2 ** 30;

await session.post('Profiler.enable');
const resources = process.getActiveResourcesInfo().length + 1;
process.on('message', (order: Order) => {
  void obey(order).then((outcome) => process.send!(outcome));
});
process.send!('ready');
