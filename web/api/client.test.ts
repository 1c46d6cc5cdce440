import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { ApiProblem, requestJson } from './client.ts';

/** The response to each path, from the service or from a proxy in front of it. */
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/cut': (response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('{"revision":', () => response.destroy());
  },
  '/portal': (response) => response.writeHead(200).end('<h1>Sign in to the network</h1>'),
  '/proxy': (response) => response.writeHead(502).end('<h1>Bad gateway</h1>'),
  '/refused': (response) => response.writeHead(422).end('{"error":"validation_failed","message":"No."}'),
  '/nothing': (response) => response.writeHead(204).end(),
};
const server = createServer(({ url }, response) => answers[url!]!(response));
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  // In a page, `location.origin` is the origin of the service.
  Object.assign(globalThis, { location: { origin: `http://127.0.0.1:${port}` } });
});
after(() => {
  Reflect.deleteProperty(globalThis, 'location');
  server.close();
});

const problemAt = async (path: string): Promise<readonly [status: number, code: string]> => {
  const problem = await requestJson(path, { method: 'GET' }).catch((error: unknown) => error);
  assert.ok(problem instanceof ApiProblem, String(problem));
  return [problem.status, problem.code];
};

test('a truncated response or one from another server is treated as no response', async () => {
  assert.deepEqual(await problemAt('/cut'), [0, 'unknown']);
  assert.deepEqual(await problemAt('/portal'), [0, 'unknown']);
});

test('an error keeps its status, whether the service or a proxy wrote it', async () => {
  assert.deepEqual(await problemAt('/proxy'), [502, 'unknown']);
  assert.deepEqual(await problemAt('/refused'), [422, 'validation_failed']);
});

test('a successful response may have no content', async () => {
  assert.equal(await requestJson('/nothing', { method: 'POST' }), undefined);
});
