import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, structure } from '#ast/testing.ts';
import { cellsOf } from '#kit/cells/cells.ts';
import { openReceiver } from '../receiver.ts';
import { openService, type Tenant, until } from '../service.ts';
import { testDatabase } from '../database.ts';

/* Three cells in two databases, of which the second is all that another server is to the service. */

const other = await testDatabase({ isEmpty: true });
const service = await openService({}, { cells: 2, elsewhere: other.url });
const { database } = service.services;
const form = { structure: structure(element('text', 'name'), element('file_upload', 'papers')) };
/** The cells, the last of which is elsewhere. */
const [, , there] = cellsOf(database).map((cell) => cell.database);

const makeForm = async (tenant: Tenant) =>
  (await tenant.call('POST', '/forms', { ...form, publish: true })).body;
const submit = async (publicUrl: string, name: string) => {
  const response = await fetch(publicUrl, {
    method: 'POST',
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    body: JSON.stringify({ answers: { name } }),
  });
  assert.equal(response.status, 201, await response.text());
};
const tenantThere = async (): Promise<Tenant> => {
  for (;;) {
    const tenant = await service.makeTenant();
    if (tenant.database === there) return tenant;
  }
};

test('a form and its submissions are in the database of their cell alone, and answer no other tenant', async () => {
  const tenants = [await service.makeTenant(), await service.makeTenant(), await service.makeTenant()];
  for (const [index, tenant] of tenants.entries()) {
    const made = await makeForm(tenant);
    await submit(made.public_url, `Ada ${index}`);
    const listed = await tenant.call('GET', `/forms/${made.id}/submissions`);
    assert.deepEqual(
      listed.body.data.map(({ answers }) => answers),
      [{ name: `Ada ${index}` }],
    );
    assert.equal((await tenant.call('GET', '/submissions/search?q=Ada')).body.data.length, 1);
    for (const other of tenants.filter((each) => each !== tenant))
      assert.equal((await other.call('GET', `/forms/${made.id}`)).status, 404);
  }
  const { rows } = await other.database.query(
    'select count(*)::int as found from cell_elsewhere.submissions',
  );
  assert.deepEqual(rows, [{ found: 1 }]);
});

test('a webhook of a cell there hears of its submissions', async () => {
  const receiver = await openReceiver();
  const tenant = await tenantThere();
  const { id, public_url } = await makeForm(tenant);
  const made = await fetch(`${service.url}/api/v1/forms/${id}/webhooks`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await tenant.makeFullKey()}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ url: `${receiver.url}/there`, events: ['submission.created'] }),
  });
  assert.equal(made.status, 201, await made.text());
  await submit(public_url, 'Heard');
  const [request] = await receiver.waitFor(1);
  assert.equal(JSON.parse(String(request!.body)).submission.responses.name, 'Heard');
  await receiver.close();
});
void until;
