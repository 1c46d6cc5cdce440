import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';

const run = promisify(execFile);
const home = fileURLToPath(new URL('../..', import.meta.url));

/** The README's commands that are marked as the tour, in order. */
async function readTour(): Promise<string[]> {
  const readme = await readFile(join(home, 'README.md'), 'utf8');
  return [...readme.matchAll(/<!-- tour -->\n```sh\n([\s\S]*?)```/g)].map((match) => match[1]!);
}

test('the five-minute tour of the README works as it is written', async () => {
  const instance = await makeInstance({}, { isNew: true });
  const server = await instance.start();
  const directory = await mkdtemp(join(tmpdir(), 'formloom-tour-'));
  after(() => rm(directory, { recursive: true, force: true }));

  const tour = await readTour();
  assert.ok(tour.length >= 4, 'the tour was found');
  // The reader stands in the clone and the service is on port 3000; here it has a port and a directory of its own.
  const script = tour
    .map((block) =>
      block
        .replaceAll('http://127.0.0.1:3000', server.url)
        .replaceAll('npm run -s formloom', `npm --prefix "${home}" run -s formloom`),
    )
    .join('\necho "---8<---"\n');
  const { stdout } = await run('sh', ['-euc', script], {
    cwd: directory,
    env: { ...process.env, DATA_DIR: instance.dataDir },
  });

  const [, created, submitted, read] = stdout.split('---8<---').map((part) => part.trim());
  const form = JSON.parse(created!) as { id: string; status: string; public_url: string };
  assert.equal(form.status, 'published');
  const submission = JSON.parse(submitted!) as { id: string; status: string; confirmation_message: string };
  assert.deepEqual(
    [submission.status, submission.confirmation_message],
    ['completed', 'We will write back within a day.'],
  );
  const [list, found] = read!
    .split(/(?<=\})(?=\{"data")/)
    .map((text) => JSON.parse(text) as { data: { id: string; metadata: { reference: object } }[] });
  assert.deepEqual(
    list!.data.map(({ id, metadata }) => ({ id, reference: metadata.reference })),
    [{ id: submission.id, reference: { campaign: 'tour' } }],
  );
  assert.deepEqual(
    found!.data.map(({ id }) => id),
    [submission.id],
  );
  await until('the page', async () => (await fetch(form.public_url)).status === 200);
});
