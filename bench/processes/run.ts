import { readFile } from 'node:fs/promises';
import { type PublishedForm, publishForm, submitEntry } from '#test/crowd.ts';
import { openInstance } from '#test/process.ts';
import { freePort } from '#test/service.ts';
import type { LoadFigures, LoadOrder, Request } from '../load.ts';
import { type Load, startLoader } from '../loader.ts';
import { describeMachine } from '../report.ts';

const rounds = 3;
const seconds = 3;
const warmUpSeconds = 3;
const concurrency = 32;
const submissions = 200;

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Returns the requests of each case, by name. */
export async function makeCases(form: PublishedForm): Promise<Record<string, Request[]>> {
  for (let entry = 0; entry < submissions; entry += 1) await submitEntry(form.publicUrl, `entry ${entry}`);
  const { idsByAnswer } = await form.listAll();
  const headers = { Authorization: `Bearer ${form.key}` };
  return {
    page: [{ method: 'GET', path: `/f/${form.id}` }],
    get: [...idsByAnswer.values()].map(([id]) => ({
      method: 'GET',
      path: `/api/v1/submissions/${id}`,
      headers,
    })),
    list: [{ method: 'GET', path: `/api/v1/forms/${form.id}/submissions`, headers }],
    submit: Array.from({ length: submissions }, (_, entry) => ({
      method: 'POST',
      path: `/f/${form.id}`,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ answers: { entry: `entry ${entry}` } }),
    })),
  };
}

/**
 * `cpu`: microseconds of CPU that all processes of the server use per request. Other load hardly changes it.
 */
type Figures = LoadFigures & { cpu: number };

function median(figures: readonly Figures[]): Figures {
  const middle = (name: keyof Figures): number =>
    figures.map((each) => each[name]).sort((a, b) => a - b)[Math.floor(figures.length / 2)]!;
  return { perSecond: middle('perSecond'), p50: middle('p50'), p99: middle('p99'), cpu: middle('cpu') };
}

/**
 * Returns the CPU seconds of a server and its web processes so far, if the system reports them (Linux), to
 * 1/100 s.
 */
async function cpuSeconds(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  let ticks = 0;
  for (const each of [pid, ...children.split(' ').filter(Boolean).map(Number)]) {
    const stat = await readFile(`/proc/${each}/stat`, 'utf8').catch(() => '');
    // The embedded database is a child too, but not part of the server.
    if (!stat.includes('(node') && !stat.includes('(MainThread')) continue;
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    ticks += Number(user) + Number(system);
  }
  return ticks / 100;
}

async function measure(load: Load, pid: number, order: LoadOrder): Promise<Figures> {
  const before = await cpuSeconds(pid);
  const figures = await load(order);
  const cpu = ((await cpuSeconds(pid)) - before) / (figures.perSecond * order.seconds);
  return { ...figures, cpu: cpu * 1e6 };
}

const describe = ({ perSecond, p50, p99, cpu }: Figures): string =>
  `${perSecond.toFixed(0).padStart(6)}/s p50 ${p50.toFixed(1).padStart(5)} p99 ${p99.toFixed(0).padStart(4)} ms cpu ${cpu.toFixed(0).padStart(4)} µs`;

/**
 * Sends equal requests to two servers of one instance in turn: one with a single process, one with
 * `processes`. The load generator and PostgreSQL share the cores, so a second process can only gain what they
 * leave.
 */
export async function benchProcesses(processes: number): Promise<void> {
  say(await describeMachine());
  const instance = await openInstance();
  const { load, end } = startLoader();
  try {
    const alone = await instance.start();
    const several = await instance.start({
      PORT: String(await freePort()),
      WEB_PROCESSES: String(processes),
    });
    const targets = [alone, several].map(({ url, pid }) => ({ pid, port: Number(new URL(url).port) }));
    for (const [name, requests] of Object.entries(await makeCases(await publishForm(instance)))) {
      const order = { requests, concurrency };
      for (const { port } of targets) await load({ ...order, port, seconds: warmUpSeconds });
      const measured: Figures[][] = targets.map(() => []);
      for (let round = 0; round < rounds; round += 1)
        for (const [index, { pid, port }] of targets.entries())
          measured[index]!.push(await measure(load, pid, { ...order, port, seconds }));
      const [one, more] = measured.map(median) as [Figures, Figures];
      say(
        `${name.padEnd(7)} 1 process ${describe(one)}   ${processes} processes ${describe(more)}   × ${(more.perSecond / one.perSecond).toFixed(2)}`,
      );
    }
    await several.terminate();
    await alone.terminate();
  } finally {
    end();
    await instance.close();
  }
}
