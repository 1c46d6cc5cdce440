import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { runCommandLine } from '#app/cli/run-command-line.ts';
import { type ElementType, elementDefinitions } from '#ast/form/elements.ts';
import { sweepImages } from '#forms/images/images.ts';
import { readTar, tarStream } from '#kit/archives.ts';
import { composite, element, structure } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { openReceiver } from '#test/receiver.ts';
import { type Body, openService, type Tenant, until } from '#test/service.ts';
import { untilOneWaits, whileTableHeld } from '#test/while-held.ts';

/* A form leaves one service as a file, and is restored unchanged at another. */

const here = await openService();
const there = await openService();
const [from, to] = [await here.makeTenant(), await there.makeTenant()];
const [fromKey, toKey] = [await from.makeFullKey(), await to.makeFullKey()];
const receiver = await openReceiver();
const folder = await mkdtemp(join(tmpdir(), 'formloom-package-'));

type Unpacked = Body & { left_out: { what: string; why: string }[] };
const as = (key: string) => ({ Authorization: `Bearer ${key}` });

async function pack(id: string, key = fromKey): Promise<Buffer> {
  const response = await fetch(`${here.url}/api/v1/forms/${id}/package`, { headers: as(key) });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/gzip');
  return Buffer.from(await response.arrayBuffer());
}

async function unpack(bytes: Buffer, key = toKey, query = '', at = there.url) {
  const response = await fetch(`${at}/api/v1/forms/package${query}`, {
    method: 'POST',
    headers: { ...as(key), 'Content-Type': 'application/gzip' },
    body: new Uint8Array(bytes),
  });
  return { status: response.status, body: (await response.json()) as Unpacked };
}

/** Returns the entries of a package: parsed JSON, and bytes. */
async function open(bytes: Buffer): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for await (const { name, body } of readTar([gunzipSync(bytes)], { isPlain: true })) {
    const content = await buffer(body);
    found.set(name, name.endsWith('.json') ? (JSON.parse(content.toString()) as unknown) : content);
  }
  return found;
}

const close = (entries: ReadonlyMap<string, unknown>): Promise<Buffer> =>
  buffer(
    tarStream(async (tar) => {
      for (const [name, content] of entries) {
        const body = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
        await tar.add(name, body.length, body);
      }
    }),
  );

const everyType = (Object.keys(elementDefinitions) as ElementType[]).map((type) =>
  type === 'composite' ? composite('group', [element('text', 'inner')]) : element(type, `of_${type}`),
);
const photo = await sharp(randomBytes(300 * 200 * 3), { raw: { width: 300, height: 200, channels: 3 } })
  .png()
  .toBuffer();

/** Creates a form with every type, three versions, a working copy, two images and two webhooks. */
async function makeRich(tenant: Tenant, key: string): Promise<string> {
  const call = async (method: string, path: string, body: unknown): Promise<Body> => {
    const answer = await tenant.call(method, path, body, as(key));
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const logo = (await call('POST', '/images', photo)).id;
  const cover = (await call('POST', '/images', await sharp(photo).rotate(90).png().toBuffer())).id;
  const first = { structure: structure(element('text', 'a')), settings: { theme: { cover } } };
  const { id } = await call('POST', '/forms', { ...first, publish: true });
  // Attributes that name an image need an existing one.
  const whole = JSON.parse(
    JSON.stringify(structure(...everyType)).replaceAll('00000000-0000-7000-8000-000000000000', logo),
  ) as ReturnType<typeof structure>;
  await call('PUT', `/forms/${id}`, { structure: whole });
  const settings = {
    theme: { logo, color: '#0b6655' },
    confirmation_message: 'Thank you',
    language: 'german',
  };
  await call('PATCH', `/forms/${id}`, { settings });
  await call('PUT', `/forms/${id}`, { structure: { ...whole, attrs: { name: 'Everything' } } });
  await call('PUT', `/forms/${id}/draft`, {
    structure: { ...whole, attrs: { name: 'Everything, and more' } },
    settings: { ...settings, confirmation_message: 'Soon' },
  });
  const hook = { url: receiver.url, events: ['submission.created'] };
  const filter = { element: 'of_text', is: 'contains', value: 'x' };
  await call('POST', `/forms/${id}/webhooks`, { ...hook, filter, pauses_on_failure: false });
  await call('POST', `/forms/${id}/webhooks`, {
    ...hook,
    secret: 'generate',
    headers: [{ name: 'X-Token', value: 'a-secret-word' }],
  });
  return id;
}
const rich = await makeRich(from, fromKey);
const packed = await pack(rich);

/**
 * Returns a package without what another instance creates anew: ids, and the bytes of images, which are
 * encoded again.
 */
async function comparable(bytes: Buffer): Promise<object> {
  const entries = await open(bytes);
  const { id, images, webhooks } = entries.get('form.json') as {
    id: string;
    images: string[];
    webhooks: Body[];
  };
  const ids = [id, ...images, ...webhooks.map((webhook) => webhook.id)];
  const text = JSON.stringify([...entries].filter(([, content]) => !Buffer.isBuffer(content)));
  return JSON.parse(
    ids.reduce((named, each, index) => named.replaceAll(each, `id ${index}`), text),
  ) as object;
}

test('a form of every element type is unchanged at another service: versions, working copy, images and webhooks', async () => {
  const { status, body } = await unpack(packed);
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.status, 'draft');
  assert.notEqual(body.id, rich);
  assert.deepEqual(
    body.left_out.map(({ what, why }) => [what, why]),
    [
      [
        'webhooks.1',
        'Secrets are never exported. The webhook is paused until these are set again: its secret, X-Token.',
      ],
    ],
  );
  const again = await fetch(`${there.url}/api/v1/forms/${body.id}/package`, { headers: as(toKey) });
  const [one, other] = [packed, Buffer.from(await again.arrayBuffer())];
  const paused = { active: false, has_secret: false, header_names: [] };
  const [manifest, ...versions] = (await comparable(one)) as [[string, { webhooks: object[] }], ...unknown[]];
  manifest[1].webhooks[1] = { ...manifest[1].webhooks[1], ...paused };
  assert.deepEqual(await comparable(other), [manifest, ...versions]);
  const names = [...(await open(one)).keys()].map((name) => name.replace(/^images\/.*/, 'image'));
  assert.deepEqual(names, [
    'form.json',
    'image',
    'image',
    ...[1, 2, 3, 4].map((each) => `versions/000${each}.json`),
  ]);
  const listed = await to.call('GET', `/forms/${body.id}/versions`);
  assert.deepEqual(
    listed.body.data.map(({ created_at }) => created_at),
    (await from.call('GET', `/forms/${rich}/versions`)).body.data.map(({ created_at }) => created_at),
  );
  const published = await to.call('POST', `/forms/${body.id}/publish`);
  assert.equal(published.status, 200);
  const page = await fetch(`${there.url}/f/${body.id}`);
  const [logo] = /\/f\/[0-9a-f-]{36}\/images\/[0-9a-f-]{36}/.exec(await page.text())!;
  assert.equal((await fetch(there.url + logo)).status, 200);
});

test('a package contains no webhook secrets, and no webhooks if the caller may not read or write them', async () => {
  assert.doesNotMatch(gunzipSync(packed).toString('latin1'), /a-secret-word|whsec_/);
  const entries = await open(await pack(rich, from.key));
  assert.deepEqual((entries.get('form.json') as { webhooks: object[] }).webhooks, []);
  const { body } = await unpack(packed, to.key);
  assert.deepEqual(body.left_out, [
    { what: 'webhooks', why: 'Adding webhooks requires the permission webhooks:write.' },
  ]);
  const { body: hooks } = await to.call('GET', `/forms/${body.id}/webhooks`, undefined, as(toKey));
  assert.deepEqual(hooks.data, []);
});

test('ids of a package never become ids of the new instance, even for the operator on the command line', async () => {
  const file = join(folder, 'form.tar.gz');
  await writeFile(file, packed);
  const output: string[] = [];
  const run = (...more: string[]) =>
    runCommandLine(
      ['forms', 'unpack', '--body-file', file, '--workspace', to.workspaceId, '--json', ...more],
      {
        environment: there.environment,
        print: (text) => void output.push(String(text)),
        complain: (text) => void output.push(text),
      },
    );
  assert.equal(await run(), 0, output.join(''));
  const { id } = JSON.parse(output.join('')) as Body;
  const idsOf = async (formId: string, at: string, key: string): Promise<string[]> => {
    const response = await fetch(`${at}/api/v1/forms/${formId}/package`, { headers: as(key) });
    const entries = await open(Buffer.from(await response.arrayBuffer()));
    const manifest = entries.get('form.json') as { id: string; images: string[]; webhooks: { id: string }[] };
    return [manifest.id, ...manifest.images, ...manifest.webhooks.map((webhook) => webhook.id)];
  };
  const [before, after] = [await idsOf(rich, here.url, fromKey), await idsOf(id, there.url, toKey)];
  assert.deepEqual([before.length, after.length], [5, 5]);
  assert.deepEqual(
    after.filter((each) => before.includes(each)),
    [],
  );
  assert.notEqual(await run('--ids', 'keep'), 0);
  assert.equal((await unpack(packed, toKey, '?ids=keep')).status, 400);
});

test('a package of a form with a password says that the password is missing', async () => {
  const { body: form } = await from.call('POST', '/forms', {
    structure: structure(element('text', 'a')),
    settings: { access: 'password', password: 'open sesame' },
  });
  const bytes = await pack(form.id);
  assert.doesNotMatch(gunzipSync(bytes).toString(), /sesame|scrypt/);
  const { body } = await unpack(bytes);
  assert.deepEqual(
    body.left_out.map(({ what }) => what),
    ['settings.password'],
  );
});

const countForms = async (): Promise<number> => (await to.call('GET', '/forms')).body.pagination.total_count;

test('a file that is not a package, or is truncated or changed, is rejected with a message and leaves nothing', async () => {
  const entries = await open(packed);
  const last = 'versions/0004.json';
  const version = entries.get(last) as { structure: object; settings: object; created_at: string };
  const manifest = entries.get('form.json') as object;
  const image = [...entries.keys()].find((name) => name.startsWith('images/'))!;
  const changed = (name: string, content: unknown) => close(new Map([...entries, [name, content]]));
  const without = (name: string) => close(new Map([...entries].filter(([each]) => each !== name)));
  const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024));
  const before = await countForms();
  const refusals: [bytes: Buffer, status: number, why: RegExp][] = [
    [Buffer.from('no package'), 422, /not a form package/],
    [packed.subarray(0, packed.length / 2), 422, /incomplete or damaged/],
    [await without('form.json'), 422, /incomplete: form\.json is missing/],
    [await without(last), 422, /incomplete: versions\/0004\.json is missing/],
    [await without(image), 422, /incomplete: images\/\S+ is missing/],
    [await changed('form.json', { ...manifest, more: 1 }), 422, /form\.json does not have the structure/],
    [await changed(last, { ...version, structure: { type: 'form' } }), 422, /not valid/],
    [await changed(last, { ...version, settings: { access: 'anybody' } }), 422, /settings are not valid/],
    [await changed(last, { ...version, settings: { ...version.settings, a: 'b\u0000' } }), 422, /NUL/],
    [await changed(image, Buffer.from('<svg/>')), 415, /must be a PNG, JPEG or WebP file/],
    [bomb, 413, /larger than/],
  ];
  for (const [bytes, status, why] of refusals) {
    const answer = await unpack(bytes);
    assert.deepEqual(
      [answer.status, why.test(JSON.stringify(answer.body))],
      [status, true],
      JSON.stringify(answer.body),
    );
  }
  assert.equal(await countForms(), before);
});

test('settings that email answers require submissions:read, in a package too', async () => {
  const { body: form } = await from.call('POST', '/forms', {
    structure: structure(element('text', 'a')),
    settings: { notification_email: 'ada@example.org' },
  });
  const bytes = await pack(form.id);
  assert.equal((await unpack(bytes, await to.makeKey(['forms:write']))).status, 403);
  assert.equal((await unpack(bytes, await to.makeKey(['forms:write', 'submissions:read']))).status, 201);
});

test('an import that is killed midway leaves no form, version or webhook', async () => {
  const before = await countForms();
  const { database } = there.services;
  await whileTableHeld(database, 'webhooks', async () => {
    const unpacking = unpack(packed);
    await database.query('select pg_terminate_backend($1)', [
      await untilOneWaits(database, 'insert into webhooks'),
    ]);
    assert.equal((await unpacking).status, 503);
  });
  assert.equal(await countForms(), before);
  const { rows } = await database.query<{ versions: number }>(
    `select count(*)::int as versions from form_versions v
     where not exists (select from forms f where f.workspace_id = v.workspace_id and f.id = v.form_id)`,
  );
  assert.equal(rows[0]!.versions, 0);
  // Its images wait for the sweep, like all images that no form names. The service sweeps too.
  const countImages = async () => (await database.query('select from form_images')).rowCount!;
  const images = await countImages();
  await database.query(`update form_images set named_at = now() - interval '2 days'`);
  await sweepImages(there.services);
  await until('them to be gone', async () => (await countImages()) < images);
});

test('a form above the size limit is packed with its newest versions, and the missing ones are reported', {
  skip: isSlice,
}, async () => {
  const big = (index: number) =>
    structure(
      ...Array.from({ length: 200 }, (_, each) =>
        element('text', `a${each}`, { help_text: `${index} ${'x'.repeat(4_000)}` }),
      ),
    );
  const { body: form } = await from.call('POST', '/forms', { structure: big(0) });
  for (let index = 1; index < 8; index += 1)
    assert.equal((await from.call('PUT', `/forms/${form.id}`, { structure: big(index) })).status, 200);
  const { body } = await unpack(await pack(form.id));
  assert.match(body.left_out[0]!.why, /^Number of oldest versions missing from the file: [1-9]/);
  assert.equal(body.structure.children[0]!.children[0]!.attrs['help_text'], `7 ${'x'.repeat(4_000)}`);
});
