import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '#kit/embedded-postgres/embedded-postgres.ts';
import { findPostmaster } from '#kit/embedded-postgres/postmaster.ts';
import { isSlice } from '#test/cases.ts';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';

/*
 * Commands on a stopped instance start its database, and are ended in the middle of their work. No process
 * writes into the pipes that they read, so they wait as long as needed. npm test ends the two commands that
 * could leave a partial file or row, because each start takes 4 s of CPU. `npm run test:long -- processes`
 * ends all of them.
 */
const instance = await makeInstance();
const path = (name: string): string => join(instance.dataDir, name);
const makePipe = async (place: string): Promise<void> => {
  await mkdir(dirname(place), { recursive: true });
  await promisify(execFile)('mkfifo', [place]);
};

const isReady = async (cluster = path('postgres')): Promise<boolean> =>
  (await findPostmaster(cluster))?.status === 'ready';

type Ending = { code: number | null; signal: string | null; printed: string; complaint: string };

/** Starts a command, and sends it the signal once `isThere` is true. */
async function end(
  t: TestContext,
  signal: NodeJS.Signals,
  args: readonly string[],
  isThere: () => Promise<boolean>,
  environment: Record<string, string> = {},
): Promise<Ending> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--preserve-symlinks', 'dist/service/cli.js', ...args],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...instance.environment, TMPDIR: path('tmp'), ...environment },
    },
  );
  t.after(() => child.kill('SIGKILL'));
  const output = { printed: '', complaint: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.printed += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.complaint += text));
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  await until(`${args.join(' ')} to be amid its work`, isThere);
  child.kill(signal);
  // npm and a terminal both do this.
  child.kill(signal);
  const [code, by] = await closed;
  return { code, signal: by, ...output };
}

test('a command that is ended by a signal stops the database that it started, and leaves no partial file', async (t) => {
  const { id: workspace } = await instance.cli<{ id: string }>('workspace create', 'Acme');
  const image = '0198a000-0000-7000-8000-000000000001';
  // The label names an image, which is packed with the form.
  const label = { id: 'note', label: image };
  const step = { type: 'step', attrs: { title: 'One', layout: 'stack' } };
  await writeFile(
    path('form.json'),
    JSON.stringify({
      structure: {
        type: 'form',
        attrs: { name: 'Contact' },
        children: [{ ...step, children: [{ type: 'text', attrs: label, children: [] }] }],
      },
    }),
  );
  const { id: form } = await instance.cli<{ id: string }>('forms create', '--body-file', path('form.json'));
  if (!isSlice) await instance.cli('backup', path('whole.backup'));
  await makePipe(path(`uploads/${workspace}/images/${image}`));
  const server = await startEmbeddedPostgres({ dataDir: instance.dataDir, log: () => {} });
  await instance.query(`insert into form_images (workspace_id, id, content_type, size, created_at, named_at)
    values ('${workspace}', '${image}', 'image/png', 10, now(), now())`);
  await instance.query(
    `create function be_slow() returns trigger language plpgsql as 'begin perform pg_sleep(9); return new; end'`,
  );
  await instance.query(
    'create trigger slow before insert on workspaces for each row execute function be_slow()',
  );
  await server.stop();
  await makePipe(path('endless.backup'));
  await mkdir(path('tmp'), { mode: 0o755 });
  const whole = (await readdir(instance.dataDir)).toSorted();
  const isListed = async (name: string): Promise<boolean> => (await readdir(instance.dataDir)).includes(name);
  const isSlow = async (): Promise<boolean> =>
    (await isReady()) &&
    (await instance.query("select from pg_stat_activity where wait_event = 'PgSleep'")).length > 0;
  const endings: readonly (readonly [NodeJS.Signals, readonly string[], () => Promise<boolean>])[] = [
    ['SIGINT', ['backup', path('new.backup')], () => isListed('new.backup.part')],
    ['SIGHUP', ['workspace', 'create', 'Slow'], isSlow],
    ['SIGTERM', ['restore', path('endless.backup')], () => isReady()],
    [
      'SIGHUP',
      ['restore', path('whole.backup'), '--check'],
      async () => {
        const [dataDir] = await readdir(path('tmp'));
        return dataDir !== undefined && isReady(join(path('tmp'), dataDir, 'postgres'));
      },
    ],
    ['SIGTERM', ['forms', 'pack', form, '--output', path('pack')], () => isListed('pack')],
    ['SIGINT', ['listen', '--forward-to', 'http://127.0.0.1:9'], () => isReady()],
    ['SIGTERM', ['mcp'], () => isReady()],
  ];
  for (const [signal, args, isThere] of isSlice ? endings.slice(0, 2) : endings) {
    const ended = await end(t, signal, args, isThere);
    const what = `${args.join(' ')}: ${JSON.stringify(ended)}`;
    assert.equal(ended.signal, signal, what);
    assert.match(ended.complaint, new RegExp(`Interrupted by ${signal}\\.`), what);
    assert.equal(await instance.databasePid(), undefined, what);
    assert.deepEqual(await readdir(path('tmp')), [], what);
    assert.deepEqual((await readdir(instance.dataDir)).toSorted(), whole, what);
  }
});

test('an unexpected error is printed once, and the command stops its database', {
  skip: isSlice,
}, async (t) => {
  const fault = 'process.on("SIGALRM", () => { throw new Error("an unexpected fault"); });';
  const args = ['listen', '--forward-to', 'http://127.0.0.1:9'];
  const ended = await end(t, 'SIGALRM', args, () => isReady(), {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}`,
  });
  assert.deepEqual([ended.code, ended.signal], [1, null]);
  assert.equal(ended.complaint.match(/an unexpected fault/g)?.length, 1, ended.complaint);
  assert.equal(await instance.databasePid(), undefined);
});

test('a command whose output cannot be written prints no stack trace, and stops its database', async () => {
  const run = async (redirection: string): Promise<{ code: number | null; complaint: string }> => {
    const line = `"$0" --disable-warning=ExperimentalWarning dist/service/cli.js workspace list ${redirection}`;
    const child = spawn('sh', ['-c', line, process.execPath], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: instance.environment,
    });
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, complaint };
  };
  if (!isSlice) {
    assert.deepEqual(await run('| true'), { code: 0, complaint: '' });
    assert.deepEqual(await run('>&-'), { code: 0, complaint: '' });
    assert.deepEqual(await run('> /dev/full 2>&1'), { code: 1, complaint: '' });
  }
  assert.deepEqual(await run('> /dev/full'), {
    code: 1,
    complaint:
      'formloom: The output cannot be written: The disk is full. Free up space on it, and run the command again.\n',
  });
  assert.equal(await instance.databasePid(), undefined);
});
