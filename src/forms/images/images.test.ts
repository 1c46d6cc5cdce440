import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, structure } from '#ast/testing.ts';
import { signIn } from '#test/console.ts';
import { openService } from '#test/service.ts';
import { listFiles, makeForm } from '#test/visitor.ts';
import { sweepImages } from './images.ts';

const service = await openService();
const tenant = await service.makeTenant();
const editor = await signIn(service, { workspaceId: tenant.workspaceId, role: 'editor' });
const { database } = service.services;

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const webp = Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64');
const jpeg = Buffer.from('/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//', 'base64');
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

/** Uploads bytes as a page of the console does, as the person of a cookie. */
async function upload(bytes: Buffer, type = 'image/png', cookie = editor.cookie): Promise<Response> {
  return fetch(`${service.url}/api/v1/images`, {
    method: 'POST',
    headers: {
      Cookie: cookie,
      Origin: service.url,
      'Content-Type': type,
      'X-Workspace-ID': tenant.workspaceId,
    },
    body: new Uint8Array(bytes),
  });
}

async function uploaded(bytes = png): Promise<string> {
  const response = await upload(bytes);
  assert.equal(response.status, 201);
  return ((await response.json()) as { id: string }).id;
}

const storedImages = async (): Promise<string[]> =>
  (await listFiles(service)).filter((path) => path.includes('/images/'));

for (const [type, bytes] of Object.entries({ 'image/png': png, 'image/webp': webp, 'image/jpeg': jpeg })) {
  test(`an image of the type ${type} is served as such, for ever, unsniffed and powerless`, async () => {
    const id = await uploaded(bytes);
    const form = await makeForm(tenant, [element('text', 'a')], { settings: { theme: { logo: id } } });
    const response = await fetch(`${service.url}/f/${form.id}/images/${id}`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), type);
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(response.headers.get('content-security-policy'), "sandbox; default-src 'none'");
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
    const page = await (await fetch(form.public_url)).text();
    assert.ok(page.includes(`<img class="logo" src="/f/${form.id}/images/${id}" alt="">`));
  });
}

const refused: Readonly<Record<string, [status: number, bytes: Buffer, type?: string]>> = {
  'an SVG': [415, svg, 'image/svg+xml'],
  'an SVG that says it is a PNG': [415, svg],
  'a text that says it is a PNG': [415, Buffer.from('hello')],
  'nothing at all': [415, Buffer.alloc(0)],
  'a GIF': [415, Buffer.from('R0lGODlhAQABAAAAACw=', 'base64')],
  'an image of more than 2 MB': [413, Buffer.concat([png, Buffer.alloc(2 * 1024 * 1024)])],
};
for (const [what, [status, bytes, type]] of Object.entries(refused)) {
  test(`${what} is refused, and nothing of it is kept`, async () => {
    const before = await storedImages();
    const response = await upload(bytes, type);
    assert.equal(response.status, type === 'image/svg+xml' ? 403 : status);
    assert.deepEqual(await storedImages(), before);
  });
}

test('a viewer, a stranger and another site cannot upload', async () => {
  const viewer = await signIn(service, { workspaceId: tenant.workspaceId, role: 'viewer' });
  const stranger = await signIn(service);
  assert.equal((await upload(png, 'image/png', viewer.cookie)).status, 403);
  assert.equal((await upload(png, 'image/png', stranger.cookie)).status, 404);
  assert.equal((await upload(png, 'image/png', '')).status, 401);
  const foreign = await fetch(`${service.url}/api/v1/images`, {
    method: 'POST',
    headers: {
      Cookie: editor.cookie,
      Origin: 'https://evil.example',
      'Content-Type': 'image/png',
      'X-Workspace-ID': tenant.workspaceId,
    },
    body: new Uint8Array(png),
  });
  assert.equal(foreign.status, 403);
});

test('a program uploads with a key, once under an Idempotency-Key, and only bytes of a type that is taken', async () => {
  const before = (await storedImages()).length;
  const send = (bytes: Buffer | object, headers: Record<string, string> = {}) =>
    tenant.call('POST', '/images', bytes, headers);
  const once = { 'Idempotency-Key': 'logo' };
  const [first, again] = [await send(webp, once), await send(webp, once)];
  assert.deepEqual([first.status, again.status, again.body.id], [201, 201, first.body.id]);
  assert.equal((await send(png, once)).status, 422, 'another image under the same key');
  for (const type of ['image/svg+xml', 'application/octet-stream', 'text/plain'])
    assert.equal((await send(png, { 'Content-Type': type })).status, 415, type);
  const asJson = await send({ image: 'x' });
  assert.deepEqual([asJson.status, asJson.body.error], [415, 'unsupported_media_type']);
  // No other operation reads so much, nor bytes.
  assert.equal((await tenant.call('POST', '/forms', png)).status, 415);
  assert.equal((await storedImages()).length, before + 1);
});

test('settings that name an image of another workspace, or none, are refused by the field', async () => {
  const other = await service.makeTenant();
  const id = await uploaded();
  for (const theme of [{ logo: id }, { cover: '00000000-0000-7000-8000-000000000000' }]) {
    const { status, body } = await other.call('POST', '/forms', {
      structure: structure(element('text', 'a')),
      settings: { theme },
    });
    assert.equal(status, 422);
    assert.deepEqual(
      body.errors.map(({ field }) => field),
      [`theme.${Object.keys(theme)[0]}`],
    );
  }
});

test('an image is not seen through the form of another workspace', async () => {
  const id = await uploaded();
  const form = await makeForm(await service.makeTenant(), [element('text', 'a')]);
  assert.equal((await fetch(`${service.url}/f/${form.id}/images/${id}`)).status, 404);
  assert.equal((await fetch(`${service.url}/f/nonsense/images/${id}`)).status, 404);
});

test('after a day the sweep removes what no form names, bytes and row, and nothing else', async () => {
  const [named, unnamed, fresh] = [await uploaded(), await uploaded(), await uploaded()];
  const form = await makeForm(tenant, [element('text', 'a')], { settings: { theme: { cover: named } } });
  // An earlier version is restored with its picture, and a working copy waits to be published with its own.
  const restorable = await uploaded();
  const waiting = await uploaded();
  const structureOf = structure(element('text', 'a'));
  await tenant.call('PUT', `/forms/${form.id}`, {
    structure: structureOf,
    settings: { theme: { logo: restorable } },
  });
  await tenant.call('PUT', `/forms/${form.id}`, {
    structure: structureOf,
    settings: { theme: { cover: named } },
  });
  await editor.api('PUT', `/forms/${form.id}/draft`, {
    structure: structureOf,
    settings: { theme: { logo: waiting } },
    base_version: 3,
  });
  const old = async (ids: readonly string[]): Promise<void> => {
    await database.query(
      `update form_images set named_at = now() - interval '25 hours' where id = any ($1)`,
      [ids],
    );
  };
  const left = async (): Promise<string[]> => {
    const paths = await storedImages();
    return [named, restorable, waiting, unnamed, fresh].filter((id) =>
      paths.some((path) => path.includes(id)),
    );
  };
  await old([named, restorable, waiting, unnamed]);
  await sweepImages(service.services);
  assert.deepEqual(await left(), [named, restorable, waiting, fresh]);
  assert.equal((await fetch(`${service.url}/f/${form.id}/images/${unnamed}`)).status, 404);

  await tenant.call('DELETE', `/forms/${form.id}`);
  await old([named, restorable, waiting]);
  await sweepImages(service.services);
  assert.deepEqual(await left(), [fresh]);
});
