import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { element, structure } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
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
const paint = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#0b6655' } });
const photo = await paint(1000, 400).jpeg().toBuffer();
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

/** Uploads bytes as the console does, with the session of a cookie. */
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

/** Returns the number of images among these files. */
const pictures = (paths: readonly string[]): number => paths.filter((path) => !/\.\w+$/.test(path)).length;

for (const [what, bytes, type] of [
  ['PNG', png, 'image/png'],
  ['WebP', webp, 'image/png'],
  ['JPEG', photo, 'image/jpeg'],
] as const) {
  test(`a ${what} is served by its id, cached permanently, never sniffed and sandboxed`, async () => {
    const id = await uploaded(bytes);
    const form = await makeForm(tenant, [element('text', 'a')], { settings: { theme: { logo: id } } });
    const response = await fetch(`${service.url}/f/${form.id}/images/${id}`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), type);
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(response.headers.get('content-security-policy'), "sandbox; default-src 'none'");
    const shown = Buffer.from(await response.arrayBuffer());
    assert.equal(Number(response.headers.get('content-length')), shown.length);
    const [{ width, height }, sent] = [await sharp(shown).metadata(), await sharp(bytes).metadata()];
    assert.deepEqual([width, height], [sent.width, sent.height]);
  });
}

test('an image is stored in screen widths as AVIF and WebP, which the page offers with its dimensions', async () => {
  const id = await uploaded(photo);
  const { form, page } = await pageWith({ cover: id });
  const place = `/f/${form}/images/${id}`;
  const offered = (format: string): string =>
    [160, 320, 480, 800, 1000].map((width) => `${place}-${width}.${format} ${width}w`).join(', ');
  assert.ok(page.includes(`type="image/avif" srcset="${offered('avif')}"`), page);
  assert.ok(page.includes(`type="image/webp" srcset="${offered('webp')}"`));
  const [image] = page.match(/<img class="cover"[^>]*>/) ?? [''];
  assert.match(image, / width="1000" height="400"/);
  assert.match(image, / fetchpriority="high"/);
  for (const format of ['avif', 'webp']) {
    const response = await fetch(`${service.url}${place}-480.${format}`);
    assert.equal(response.headers.get('content-type'), `image/${format}`);
    const { width, height } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
    assert.deepEqual([width, height], [480, 192]);
  }
  for (const other of ['-481.webp', '-480.png', '-480.', '-', '.webp'])
    assert.equal((await fetch(`${service.url}${place}${other}`)).status, 404, other);
});

test('a stored image has no metadata about its place and author, and is rotated upright', async () => {
  const taken = paint(600, 300).jpeg();
  const bytes = await taken
    .withExif({ IFD0: { Artist: 'Gunta' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .withMetadata({ orientation: 6 })
    .toBuffer();
  assert.ok((await sharp(bytes).metadata()).exif, 'the upload has what is to go');
  const id = await uploaded(bytes);
  const { form } = await pageWith({ logo: id });
  for (const name of ['', '-160.webp', '-160.avif', '-icon.png']) {
    const response = await fetch(`${service.url}/f/${form}/images/${id}${name}`);
    const { exif, orientation, width, height } = await sharp(
      Buffer.from(await response.arrayBuffer()),
    ).metadata();
    assert.deepEqual([exif, orientation], [undefined, undefined], name);
    if (name !== '-icon.png') assert.ok(height > width, `${name} stands upright`);
  }
});

test('an image from before renditions existed is served as uploaded', async () => {
  const id = await uploaded(photo);
  await database.query(
    `update form_images set width = null, height = null, renditions = '{}' where id = $1`,
    [id],
  );
  const { form, page } = await pageWith({ logo: id });
  assert.ok(page.includes(`<img class="logo" src="/f/${form}/images/${id}" alt="">`));
  assert.equal((await fetch(`${service.url}/f/${form}/images/${id}`)).status, 200);
});

/** Returns a form with a theme, and its page. */
async function pageWith(theme: object): Promise<{ form: string; page: string }> {
  const form = await makeForm(tenant, [element('text', 'a')], { settings: { theme } });
  return { form: form.id, page: await (await fetch(form.public_url)).text() };
}

/** Makes a WebP of two frames. */
async function makeMoving(): Promise<Buffer> {
  const frames = await Promise.all(
    ['#0b6655', '#7a1f8a'].map((background) => paint(8, 8).tint(background).png().toBuffer()),
  );
  return sharp(frames, { join: { animated: true } })
    .webp({ loop: 0 })
    .toBuffer();
}

/** Writes another size into the header of a baseline JPEG. */
function declareSize(jpeg: Buffer, width: number, height: number): Buffer {
  const bytes = Buffer.from(jpeg);
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return bytes;
}

test('a photo of 50 megapixels, as phones make them, is stored at the width of a page', {
  skip: isSlice,
}, async () => {
  const id = await uploaded(await paint(8_160, 6_120).jpeg().withMetadata({ orientation: 6 }).toBuffer());
  const form = await makeForm(tenant, [element('text', 'a')], { settings: { theme: { logo: id } } });
  const shown = await (await fetch(`${service.url}/f/${form.id}/images/${id}`)).arrayBuffer();
  const { width, height } = await sharp(shown).metadata();
  assert.deepEqual([width, height], [1_440, 1_920]);
});

const refused: Readonly<Record<string, [status: number, bytes: Buffer, type?: string]>> = {
  'an SVG': [415, svg, 'image/svg+xml'],
  'an SVG that says it is a PNG': [415, svg],
  'a text that says it is a PNG': [415, Buffer.from('hello')],
  'nothing at all': [415, Buffer.alloc(0)],
  'a GIF': [415, Buffer.from('R0lGODlhAQABAAAAACw=', 'base64')],
  'an image of more than 10 MB': [413, Buffer.concat([png, Buffer.alloc(10 * 1024 * 1024)])],
  'half an image': [415, photo.subarray(0, photo.length / 2)],
  'the beginning of an image': [415, png.subarray(0, 30)],
  'a bomb of a few KB that unpacks to 100 megapixels': [413, await paint(10_000, 10_000).png().toBuffer()],
  'a progressive JPEG of 9 megapixels': [
    413,
    await paint(3_000, 3_000).jpeg({ progressive: true }).toBuffer(),
  ],
  'a baseline JPEG whose header says 53 megapixels': [413, declareSize(photo, 8_800, 6_000)],
  'an interlaced PNG of 9 megapixels': [413, await paint(3_000, 3_000).png({ progressive: true }).toBuffer()],
  'an image that moves': [415, await makeMoving()],
};
for (const [what, [status, bytes, type]] of Object.entries(refused)) {
  test(`${what} is rejected, and nothing is stored`, async () => {
    const before = await storedImages();
    const response = await upload(bytes, type);
    assert.equal(response.status, type === 'image/svg+xml' ? 403 : status);
    assert.match(((await response.json()) as { message: string }).message, /^[A-Z].+\.$/);
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

test('a program uploads with a key, once per Idempotency-Key, and only accepted types', async () => {
  const before = await storedImages();
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
  // No other operation accepts bodies of this size, or bytes.
  assert.equal((await tenant.call('POST', '/forms', png)).status, 415);
  assert.equal(pictures(await storedImages()), pictures(before) + 1);
});

test('settings that name an image of another workspace, or an unknown one, are rejected by the field', async () => {
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

test('an element shows an image with its sizes, alternative text and caption; an invalid one is rejected with the path', async () => {
  const id = await uploaded(photo);
  const shown = element('image', 'map', { image: id, alt: 'A "map"', caption: 'The **way**' });
  const form = await makeForm(tenant, [element('text', 'a'), shown]);
  const page = await (await fetch(form.public_url)).text();
  const place = `/f/${form.id}/images/${id}`;
  assert.ok(page.includes(`type="image/avif" srcset="${place}-160.avif 160w, `), page);
  assert.match(page, / width="1000" height="400" loading="lazy" alt="A &quot;map&quot;">/);
  assert.ok(page.includes('<figcaption>The **way**</figcaption>'));
  for (const [image, alt] of [
    ['00000000-0000-7000-8000-000000000000', 'x'],
    ['/etc/passwd', 'x'],
    [id, ' '],
  ]) {
    const wrong = structure(element('text', 'a'), element('image', 'map', { image, alt }));
    const { status, body } = await tenant.call('POST', '/forms', { structure: wrong });
    assert.deepEqual([status, body.errors.map(({ path }) => path)], [422, [[0, 1]]]);
    const judged = await tenant.call('POST', '/forms/validate', { structure: wrong });
    const { problems } = judged.body as unknown as { problems: { path: number[] }[] };
    assert.deepEqual(
      problems.map(({ path }) => path),
      [[0, 1]],
    );
  }
});

test('an image cannot be seen through a form of another workspace', async () => {
  const id = await uploaded();
  const form = await makeForm(await service.makeTenant(), [element('text', 'a')]);
  assert.equal((await fetch(`${service.url}/f/${form.id}/images/${id}`)).status, 404);
  assert.equal((await fetch(`${service.url}/f/nonsense/images/${id}`)).status, 404);
});

test('after a day the sweep removes images that no form names, bytes and row, and nothing else', async () => {
  const [named, unnamed, fresh] = [await uploaded(), await uploaded(), await uploaded()];
  const form = await makeForm(tenant, [element('text', 'a')], { settings: { theme: { cover: named } } });
  // The logo of an earlier version, which can be restored, and of a working copy that is not published yet.
  const restorable = await uploaded();
  const waiting = await uploaded();
  const structureOf = structure(element('text', 'a'));
  // An image that an element of a version showed, and an option's image in a working copy.
  const [shown, chosen] = [await uploaded(), await uploaded()];
  await tenant.call('PUT', `/forms/${form.id}`, {
    structure: structure(element('image', 'map', { image: shown })),
  });
  await tenant.call('PUT', `/forms/${form.id}`, {
    structure: structureOf,
    settings: { theme: { logo: restorable } },
  });
  await tenant.call('PUT', `/forms/${form.id}`, {
    structure: structureOf,
    settings: { theme: { cover: named } },
  });
  await editor.api('PUT', `/forms/${form.id}/draft`, {
    structure: structure(element('radio', 'a', { options: [{ id: 'x', label: 'X', image: chosen }] })),
    settings: { theme: { logo: waiting } },
    base_version: 4,
  });
  const old = async (ids: readonly string[]): Promise<void> => {
    await database.query(
      `update form_images set named_at = now() - interval '25 hours' where id = any ($1)`,
      [ids],
    );
  };
  const left = async (): Promise<string[]> => {
    const paths = await storedImages();
    return [named, restorable, waiting, shown, chosen, unnamed, fresh].filter((id) =>
      paths.some((path) => path.includes(id)),
    );
  };
  await old([named, restorable, waiting, shown, chosen, unnamed]);
  await sweepImages(service.services);
  assert.deepEqual(await left(), [named, restorable, waiting, shown, chosen, fresh]);
  assert.equal((await fetch(`${service.url}/f/${form.id}/images/${unnamed}`)).status, 404);

  await tenant.call('DELETE', `/forms/${form.id}`);
  await old([named, restorable, waiting, shown, chosen]);
  await sweepImages(service.services);
  assert.deepEqual(await left(), [fresh]);
});
