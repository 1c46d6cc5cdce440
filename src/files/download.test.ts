import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { asJson, makeForm, openVisitor } from '#test/visitor.ts';
import { openFileLinks, storageKey } from './stored-files.ts';

const service = await shareService();
const visitor = openVisitor(service);
const tenant = await service.makeTenant();
const form = await makeForm(tenant, [element('file_upload', 'file')]);

/** Submits a file and returns its link from the API. */
async function uploaded(file: File, formId = form.id): Promise<{ id: string; url: string }> {
  const { status, body } = await visitor.post(formId, [['file', file]], asJson);
  assert.equal(status, 201, JSON.stringify(body));
  const { answers } = (await tenant.call('GET', `/submissions/${body.id}`)).body as unknown as {
    answers: { file: { id: string; url: string }[] };
  };
  return answers.file[0]!;
}
const text = await uploaded(new File(['hello'], 'hello.txt', { type: 'text/plain' }));

test('a link returns the bytes as a download, never sniffed, run or cached', async () => {
  const response = await fetch(text.url);
  assert.equal(response.status, 200);
  assert.equal(await response.text(), 'hello');
  const { headers } = response;
  assert.deepEqual(
    Object.fromEntries(
      [
        'content-type',
        'content-length',
        'content-disposition',
        'x-content-type-options',
        'content-security-policy',
        'cache-control',
        'referrer-policy',
      ].map((name) => [name, headers.get(name)]),
    ),
    {
      'content-type': 'text/plain',
      'content-length': '5',
      'content-disposition': 'attachment; filename=hello.txt',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
    },
  );
});

const hostile: Record<string, { file: File; name: string }> = {
  'a page': {
    file: new File(['<script>alert(1)</script>'], 'page.html', { type: 'text/html' }),
    name: 'filename=page.html',
  },
  'a drawing with a script': {
    file: new File(['<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'], 'a.svg', {
      type: 'image/svg+xml',
    }),
    name: 'filename=a.svg',
  },
  'a page in an image': {
    file: new File(['GIF89a<script>alert(1)</script>'], 'x.gif', { type: 'text/html' }),
    name: 'filename=x.gif',
  },
  'a name that breaks the header': {
    file: new File(['x'], 'a"; filename="evil.exe\r\nX-Evil: 1.txt', { type: 'text/plain' }),
    name: 'filename',
  },
  'a name in letters beyond ASCII': {
    file: new File(['x'], 'Übersicht €.txt', { type: 'text/plain' }),
    name: "filename*=utf-8''%C3%9Cbersicht%20%E2%82%AC.txt",
  },
  'a name of 300 letters': {
    file: new File(['x'], `${'n'.repeat(300)}.txt`, { type: 'text/plain' }),
    name: `filename=${'n'.repeat(196)}.txt`,
  },
};
for (const [name, { file, name: expected }] of Object.entries(hostile)) {
  test(`${name}: a download with a safe type and a safe name`, async () => {
    const response = await fetch((await uploaded(file)).url);
    assert.equal(response.status, 200);
    assert.doesNotMatch(response.headers.get('content-type')!, /html|svg|javascript/);
    const disposition = response.headers.get('content-disposition')!;
    assert.match(disposition, /^attachment;/);
    assert.ok(disposition.toLowerCase().includes(expected.toLowerCase()), disposition);
    assert.equal(response.headers.get('x-evil'), null);
    assert.equal(response.headers.get('content-security-policy'), "sandbox; default-src 'none'");
    await response.arrayBuffer();
  });
}

const textFile = { workspaceId: tenant.workspaceId, formId: form.id, id: text.id };

const refused = async (url: string, method = 'GET'): Promise<void> => {
  const response = await fetch(url, { method });
  const body = await response.text();
  assert.equal(response.status, 403, url);
  if (method === 'GET') assert.equal((JSON.parse(body) as { error: string }).error, 'forbidden');
};

test('a link that was changed anywhere is a 403, equal to the response for an invalid link', async () => {
  const url = new URL(text.url);
  const edit = (change: (copy: URL) => void): string => {
    const copy = new URL(url);
    change(copy);
    return copy.href;
  };
  const [, , workspace, formId, file] = url.pathname.split('/');
  await refused(
    edit((copy) => copy.searchParams.set('expires', String(Number(copy.searchParams.get('expires')) + 1))),
  );
  await refused(edit((copy) => copy.searchParams.append('expires', '9999999999')));
  await refused(
    edit((copy) => copy.searchParams.set('signature', copy.searchParams.get('signature')!.toLowerCase())),
  );
  await refused(edit((copy) => copy.searchParams.append('signature', copy.searchParams.get('signature')!)));
  await refused(edit((copy) => (copy.search = '')));
  await refused(
    edit(
      (copy) =>
        (copy.pathname = `/files/${workspace}/${formId}/${file!.replace(/.$/, (last) => (last === '0' ? '1' : '0'))}`),
    ),
  );
  await refused(edit((copy) => (copy.pathname = `/files/${file}/${formId}/${workspace}`)));
  await refused(edit((copy) => (copy.pathname = '/files/x/y/..%2f..%2fetc%2fpasswd')));
  await refused(
    edit((copy) => (copy.search = '')),
    'HEAD',
  );
});

test('after an hour the link is a 403, and the API returns a new one', async () => {
  const { vault, config } = service.services;
  const hourAgo = openFileLinks({
    vault,
    publicUrl: config.publicUrl,
    now: () => new Date(Date.now() - 3_601_000),
  });
  await refused(hourAgo.sign(textFile));
  const almost = openFileLinks({
    vault,
    publicUrl: config.publicUrl,
    now: () => new Date(Date.now() - 3_540_000),
  });
  assert.equal((await fetch(almost.sign(textFile))).status, 200);
});

test('HEAD returns the headers of GET, without the bytes', async () => {
  const [head, get] = [await fetch(text.url, { method: 'HEAD' }), await fetch(text.url)];
  await get.arrayBuffer();
  assert.equal(head.status, 200);
  assert.equal(await head.text(), '');
  const plain = (headers: Headers) =>
    [...headers].filter(([name]) => !['date', 'x-request-id', 'connection', 'keep-alive'].includes(name));
  assert.deepEqual(plain(head.headers), plain(get.headers));
});

test('a Range of one part returns that part; any other returns the whole file', async () => {
  const read = async (range: string, more: Record<string, string> = {}) => {
    const response = await fetch(text.url, { headers: { Range: range, ...more } });
    return [response.status, response.headers.get('content-range'), await response.text()];
  };
  assert.deepEqual(await read('bytes=1-2'), [206, 'bytes 1-2/5', 'el']);
  assert.deepEqual(await read('bytes=3-'), [206, 'bytes 3-4/5', 'lo']);
  assert.deepEqual(await read('bytes=-2'), [206, 'bytes 3-4/5', 'lo']);
  assert.deepEqual(await read('bytes=0-99'), [206, 'bytes 0-4/5', 'hello']);
  assert.deepEqual(await read('bytes=-99'), [206, 'bytes 0-4/5', 'hello']);
  for (const range of ['bytes=5-', 'bytes=3-2', 'bytes=-', 'bytes=-0', 'bytes=0-1,3-4', 'lines=1-2', '1-2'])
    assert.deepEqual(await read(range), [200, null, 'hello'], range);
  assert.deepEqual(await read('bytes=1-2', { 'If-Range': '"x"' }), [200, null, 'hello']);
});

test('other methods are a 405 with Allow', async () => {
  const response = await fetch(text.url, { method: 'DELETE' });
  assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, HEAD']);
});

test('a file that no submission claimed has no link, even with a signature', async () => {
  const { services } = service;
  const id = '0199e5b0-0000-7000-8000-00000000000f';
  await services.database.query(
    "insert into files (workspace_id, id, form_id, element, filename, content_type, size, created_at) values ($1, $2, $3, 'file', 'a', 'text/plain', 1, now())",
    [tenant.workspaceId, id, form.id],
  );
  const response = await fetch(services.links.sign({ workspaceId: tenant.workspaceId, formId: form.id, id }));
  assert.deepEqual(
    [response.status, ((await response.json()) as { error: string }).error],
    [404, 'not_found'],
  );
});

test('after its form is deleted, or its bytes are missing, a valid link is a 404', async () => {
  const doomed = await makeForm(tenant, [element('file_upload', 'file')]);
  const { url } = await uploaded(new File(['x'], 'x.txt'), doomed.id);
  await tenant.call('DELETE', `/forms/${doomed.id}`);
  assert.equal((await fetch(url)).status, 404);
  const lost = await uploaded(new File(['x'], 'x.txt'));
  await service.services.storage.remove(storageKey(tenant.workspaceId, lost.id));
  assert.equal((await fetch(lost.url)).status, 404);
});

test('files cannot be listed', async () => {
  for (const path of ['/files', '/files/', `/files/${tenant.workspaceId}`, `/files/${tenant.workspaceId}/`]) {
    assert.ok([403, 404].includes((await fetch(`${service.url}${path}`)).status), path);
  }
});
