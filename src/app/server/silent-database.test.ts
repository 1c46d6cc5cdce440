import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, structure } from '#test/ast/forms.ts';
import { signIn } from '#test/console.ts';
import { openRelayedService } from '#test/service.ts';
import { slowness } from '#test/slowness.ts';

const { service, relay } = await openRelayedService();
const tenant = await service.makeTenant();
const person = await signIn(service, { workspaceId: tenant.workspaceId });
const { body: form } = await tenant.call('POST', '/forms', {
  structure: structure(element('text', 'name'), element('file_upload', 'cv')),
  publish: true,
});

const page = `/f/${form.id}`;
const upload = (): FormData => {
  const parts = new FormData();
  parts.append('name', 'Ada');
  parts.append('cv', new File(['x'.repeat(100_000)], 'cv.txt', { type: 'text/plain' }));
  return parts;
};
const asJson = { 'Content-Type': 'application/json', Accept: 'application/json' };
const authorized = { Authorization: `Bearer ${tenant.key}` };
const asPerson = { Cookie: person.cookie, 'X-Workspace-ID': tenant.workspaceId };
const requests: readonly (readonly [what: string, path: string, request: () => RequestInit])[] = [
  ['a GET with a key', '/api/v1/forms', () => ({ headers: authorized })],
  ['a public page', page, () => ({})],
  ['a JSON post', page, () => ({ method: 'POST', headers: asJson, body: '{"answers":{"name":"Ada"}}' })],
  [
    'a multipart post',
    page,
    () => ({ method: 'POST', headers: { Accept: 'application/json' }, body: upload() }),
  ],
  ['the console', '/api/v1/forms', () => ({ headers: asPerson })],
  ['who is signed in', '/app/api/session', () => ({ headers: { Cookie: person.cookie } })],
];

type Outcome = { what: string; status: number; retryAfter: string | null; seconds: number };
const ask = async ([what, path, request]: (typeof requests)[number]): Promise<Outcome> => {
  const since = performance.now();
  const answer = await fetch(service.url + path, { ...request(), redirect: 'manual' });
  await answer.arrayBuffer();
  const { status, headers } = answer;
  return {
    what,
    status,
    retryAfter: headers.get('retry-after'),
    seconds: (performance.now() - since) / 1_000,
  };
};

test('each of the requests succeeds while the database responds', async () => {
  const statuses = await Promise.all(requests.map(ask));
  assert.deepEqual(
    statuses.filter(({ status }) => status >= 400),
    [],
  );
});

test('while the database accepts but never responds, each request is a 503 within 3 s, on old and new connections', async () => {
  let factor = slowness();
  relay.silence({ connected: true, next: true });
  // The first round has connections that worked before; the second has lost them; the third sends more
  // requests than there are connections.
  for (const round of [requests, requests, [...requests, ...requests, ...requests]]) {
    const outcomes = await Promise.all(round.map(ask));
    factor = Math.max(factor, slowness());
    assert.deepEqual(
      outcomes.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null),
      [],
    );
    const late = outcomes.filter(({ seconds }) => seconds > 3 * factor);
    assert.deepEqual(late, [], `on a machine that is ${factor} times as slow`);
  }
  // New connections work again, so that closing has nothing to wait for.
  relay.silence({ connected: false, next: false });
});
