import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { element, structure } from '#test/ast/forms.ts';
import { publishForm } from '#test/crowd.ts';
import { makeInstance } from '#test/process.ts';
import { until } from '#test/service.ts';

test('a large upload continues after kill -9 of the server, and is whole', async (t) => {
  const instance = await makeInstance({ UPLOAD_MAX_FILE_MB: '100', UPLOAD_FREE_MB: '16' });
  const server = await instance.start();
  const owner = await publishForm(instance);
  const { body: form } = await owner.call('POST', '/forms', {
    structure: structure(element('file_upload', 'film')),
    publish: true,
  });
  const film = randomBytes(30 * 1024 * 1024);
  const headers = { 'Tus-Resumable': '1.0.0' };
  const metadata = `field ${btoa('film')},filename ${btoa('film.bin')}`;
  const created = await fetch(`${form.public_url}/files`, {
    method: 'POST',
    headers: { ...headers, 'Upload-Length': String(film.length), 'Upload-Metadata': metadata },
  });
  const url = `${instance.url}${created.headers.get('location')}`;
  const send = (offset: number, body: NonNullable<RequestInit['body']>) =>
    fetch(url, {
      method: 'PATCH',
      headers: {
        ...headers,
        'Content-Type': 'application/offset+octet-stream',
        'Upload-Offset': String(offset),
      },
      body,
      duplex: 'half',
    });
  // Arrives in chunks, so that the server dies between two of them.
  const slowly = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (let at = 0; at < film.length && server.output() !== ''; at += 65_536) {
        controller.enqueue(film.subarray(at, at + 65_536));
        await new Promise((resolve) => setImmediate(resolve));
      }
      controller.close();
    },
  });
  const cut = assert.rejects(send(0, slowly));
  await until('two pieces are saved', async () => {
    const [row] = await instance.query<{ size: number }>('select size from files');
    return Number(row?.size) >= 2 * 8 * 1024 * 1024;
  });
  await server.kill();
  await cut;
  await instance.start();
  const stored = Number((await fetch(url, { method: 'HEAD', headers })).headers.get('upload-offset'));
  t.diagnostic(`${stored} of ${film.length} bytes were stored`);
  assert.ok(stored >= 16 * 1024 * 1024);
  // The lock of the killed server ends after 20 s.
  assert.equal((await send(stored, film.subarray(stored))).status, 409);
  await instance.query('update files set locked_until = now()');
  const last = await send(stored, film.subarray(stored));
  assert.equal(last.status, 204);
  const sent = await fetch(form.public_url, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams([['_file[film]', url.split('/').at(-1)!]]),
  });
  assert.equal(sent.status, 201);
  const { id } = (await sent.json()) as { id: string };
  const [file] = (await owner.call('GET', `/submissions/${id}`)).body.answers['film'] as { url: string }[];
  assert.ok(Buffer.from(await (await fetch(file!.url)).arrayBuffer()).equals(film));
});
