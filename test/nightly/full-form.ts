import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pool } from 'undici';
import { publishForm } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { freePort } from '#test/service.ts';

/*
 * npm run test:long -- full <submits>
 *
 * Sends parallel submits over two servers of one database to a form whose response limit is a tenth of them.
 * Default: 10,000.
 */
const submits = Number(process.argv[2] ?? 10_000);
if (!Number.isInteger(submits) || submits < 10)
  throw new Error(`"${process.argv[2]}" is no number of submits.`);
const maximum = Math.floor(submits / 10);

test(`of ${submits} parallel submits to a form with a response limit of ${maximum}, exactly the limit is accepted`, async () => {
  const instance = await makeInstance();
  await instance.start();
  const port = await freePort();
  await instance.start({ PORT: String(port) });
  const owner = await publishForm(instance);
  const { body: form } = await owner.call('POST', '/forms', {
    structure: {
      type: 'form',
      attrs: { name: 'Concert' },
      children: [
        {
          type: 'step',
          children: [{ type: 'text', attrs: { id: 'name', label: 'Name', required: true }, children: [] }],
        },
      ],
    },
    settings: { max_submissions: maximum },
    publish: true,
  });

  const pools = [instance.url, `http://127.0.0.1:${port}`].map(
    (origin) => new Pool(origin, { connections: 200, headersTimeout: 120_000 }),
  );
  const begun = performance.now();
  let overloads = 0;
  /** Submits for one visitor, who retries when the service is overloaded, as its response asks. */
  const submit = async (index: number): Promise<readonly [status: number, id: string | undefined]> => {
    const visitor = `visitor-${Math.floor(index / 2)}`;
    for (;;) {
      const { statusCode, body, headers } = await pools[index % pools.length]!.request({
        method: 'POST',
        path: `/f/${form.id}`,
        // Every visitor submits twice.
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': visitor },
        body: JSON.stringify({ answers: { name: visitor } }),
      });
      const { id } = (await body.json()) as { id?: string };
      if (statusCode !== 503) return [statusCode, id];
      overloads += 1;
      await new Promise((resolve) => setTimeout(resolve, Number(headers['retry-after']) * 1_000));
    }
  };
  const statuses = await Promise.all(Array.from({ length: submits }, (_, index) => submit(index)));
  const seconds = (performance.now() - begun) / 1_000;
  await Promise.all(pools.map((pool) => pool.close()));

  const receipts = new Set(statuses.flatMap(([status, id]) => (status === 201 ? id! : [])));
  const others = new Set(statuses.map(([status]) => status).filter((status) => status !== 201));
  assert.equal(receipts.size, maximum);
  assert.deepEqual([...others], [410]);
  const { body } = await owner.call('GET', `/forms/${form.id}/submissions`);
  assert.equal(body.pagination.total_count, maximum);
  const [row] = await instance.query<{ count: string }>(
    `select count(*) from submissions where form_id = '${form.id}' and completed_at is not null`,
  );
  assert.equal(Number(row!.count), maximum);
  process.stdout.write(
    `${submits} submits in ${seconds.toFixed(1)} s: ${receipts.size} taken, never one more; ${overloads} times asked to come again\n`,
  );
});
