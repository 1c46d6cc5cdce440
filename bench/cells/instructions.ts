import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Instance, openInstance } from '#test/process.ts';
import { until } from '#test/service.ts';
import type { Request } from '../load.ts';
import { startLoader } from '../loader.ts';
import { describeMachine } from '../report.ts';
import { kinds, pool, stage } from './run.ts';

/*
 * CPU seconds of two processes of the same code differ by a tenth, depending on memory layout and on other
 * load. Instruction counts do not. Valgrind counts them, and slows the process down about fifty times.
 */

/** Low enough that no request waits for a connection until it times out. */
const concurrency = 8;
/** After these requests V8 has compiled most of the code that a request runs. */
const others = { page: 30, get: 30, list: 30 } as const;

/**
 * Instructions of the thread that answers, and of all other threads, where V8 compiles and collects garbage.
 */
type Count = { answering: number; others: number };

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/**
 * Compares the instructions per submit of a server with one cell and one with three, after equally many
 * submits.
 */
export async function benchInstructions({
  rounds,
  seconds,
}: {
  rounds: number;
  seconds: number;
}): Promise<void> {
  say(await describeMachine());
  const names = ['one', 'three'] as const;
  const [one, three] = await Promise.all(
    names.map(async (name) => {
      const instance = await openInstance(pool(name === 'one' ? 12 : 4));
      const { load, end } = startLoader();
      const directory = await mkdtemp(join(tmpdir(), 'formloom-instructions-'));
      try {
        const { cases } = await stage(instance, kinds[name]);
        const server = await start(instance, directory);
        const ask = async (requests: Request[], during: number): Promise<number> => {
          const { perSecond } = await load({ requests, concurrency, port: server.port, seconds: during });
          return perSecond * during;
        };
        for (const [other, during] of Object.entries(others)) await ask(cases[other]!, during);
        await server.count();
        await sleep(seconds * 1_000);
        const idle = await server.count();
        const found: { submits: number; each: Count }[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const submits = await ask(cases['submit']!, seconds);
          const { answering, others: beside } = await server.count();
          found.push({
            submits,
            each: { answering: (answering - idle.answering) / submits, others: beside / submits },
          });
        }
        await server.end();
        return found;
      } finally {
        end();
        await instance.close();
        await rm(directory, { recursive: true });
      }
    }),
  );
  const describe = ({ answering, others: beside }: Count): string =>
    `${(answering / 1_000).toFixed(0)} + ${(beside / 1_000).toFixed(0)} thousand`;
  let asked = 0;
  for (const [round, { submits, each }] of one!.entries()) {
    const more = three![round]!.each;
    say(
      `after ${asked.toFixed(0)} submits: one cell ${describe(each)} instructions for one, three cells ${describe(more)}   × ${(each.answering / more.answering).toFixed(3)}`,
    );
    asked += submits;
  }
}

/** Starts the server of an instance under Valgrind, on a database that no other server uses. */
async function start(instance: Instance, directory: string) {
  const child = spawn(
    'valgrind',
    [
      '--tool=callgrind',
      // V8 writes machine code and overwrites it.
      '--smc-check=all-non-file',
      '--separate-threads=yes',
      `--callgrind-out-file=${join(directory, 'counted')}`,
      process.execPath,
      '--preserve-symlinks',
      fileURLToPath(new URL('../../dist/service/main.js', import.meta.url)),
    ],
    { env: { PATH: process.env['PATH'], ...instance.environment }, stdio: 'ignore' },
  );
  // Also if the other server could not be measured and this run ends early.
  process.once('exit', () => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${instance.url}/readyz`).catch(() => undefined))?.status === 200;
  await until('the server under Valgrind', isReady, 600);
  let counted = 0;
  return {
    port: Number(new URL(instance.url).port),
    /** Counts the instructions since the previous call. */
    async count(): Promise<Count> {
      counted += 1;
      await promisify(execFile)('callgrind_control', ['-d', String(child.pid)]);
      const file = `counted.${counted}-`;
      return until('what was counted', () => read(directory, file), 60);
    },
    end: () => ended(child),
  };
}

async function read(directory: string, file: string): Promise<Count | undefined> {
  const files = (await readdir(directory)).filter((name) => name.startsWith(file)).toSorted();
  const texts = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8')));
  const totals = texts.map((text) => Number(/^totals: (\d+)$/m.exec(text)?.[1] ?? NaN));
  const [answering, ...beside] = totals;
  if (answering === undefined || totals.some(Number.isNaN)) return undefined;
  return { answering, others: beside.reduce((sum, each) => sum + each, 0) };
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
