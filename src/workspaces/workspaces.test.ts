import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { WorkspaceCreation } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import { makePerson } from '#test/console.ts';
import { testDatabase } from '#test/database.ts';
import { type Plan, plans, requestRateOf } from './authenticate.ts';
import { addMember } from './members.ts';
import { createWorkspace, listWorkspaces, mayCreateWorkspace, setPlan } from './workspaces.ts';

const { database } = await testDatabase();

// The specification's table "API rate limits", and "Webhook signature" 1.
const tiers: [plan: Plan, perMinute: number, burst: number, signed: boolean][] = [
  ['free', 60, 10, false],
  ['pro', 300, 30, true],
  ['business', 1_000, 100, true],
  ['enterprise', 5_000, 500, true],
];

for (const [plan, perMinute, burst, signed] of tiers) {
  test(`the ${plan} plan: ${perMinute} requests per minute, burst ${burst}, webhooks ${signed ? '' : 'not '}signed`, () => {
    assert.deepEqual(requestRateOf(plan, { rateLimit: null, burst: null }), { perMinute, burst });
    assert.equal(plans[plan].signedWebhooks, signed);
  });
}

test('a workspace has the limits of its plan or custom limits', async () => {
  const plain = await createWorkspace(database, { name: 'Plain', plan: 'free' });
  const custom = await createWorkspace(database, {
    name: 'Custom',
    plan: 'enterprise',
    rateLimit: 9,
    burst: 0,
  });
  const listed = await listWorkspaces(database);
  assert.deepEqual(
    listed.slice(0, 2).map(({ created_at: _createdAt, ...rest }) => rest),
    [
      { ...custom, rate_limit: 9, burst: 0 },
      { ...plain, rate_limit: 60, burst: 10 },
    ],
  );
});

test('a new plan resets the limits to its own', async () => {
  const { id } = await createWorkspace(database, {
    name: 'Moving',
    plan: 'enterprise',
    rateLimit: 9,
    burst: 1,
  });
  assert.deepEqual(await setPlan(database, { workspaceId: id, plan: 'pro' }), {
    id,
    name: 'Moving',
    plan: 'pro',
  });
  const [moved, ...others] = await listWorkspaces(database);
  assert.deepEqual([moved!.rate_limit, moved!.burst], [300, 30]);
  assert.deepEqual([...new Set(others.map(({ plan }) => plan))].sort(), ['enterprise', 'free']);
  const none = setPlan(database, { workspaceId: id, plan: 'pro', rateLimit: 0 });
  await assert.rejects(none, { code: 'validation_error' });
});

test('the operator sets who can create workspaces: no one, everyone or owners', async () => {
  const { id: workspaceId } = await createWorkspace(database, { name: 'Owned', plan: 'free' });
  const [owner, stranger] = [
    await makePerson(database, 'owner@example.org'),
    await makePerson(database, 'stranger@example.org'),
  ];
  await addMember(database, { workspaceId, userId: owner, role: 'owner' });
  const mayBoth = (setting: WorkspaceCreation) =>
    Promise.all([owner, stranger].map((id) => mayCreateWorkspace(database, setting, id)));
  assert.deepEqual(await mayBoth('operator'), [false, false]);
  assert.deepEqual(await mayBoth('everyone'), [true, true]);
  assert.deepEqual(await mayBoth('owners'), [true, false]);
});

test('setting the plan of an unknown workspace returns `not_found`', async () => {
  await assert.rejects(
    setPlan(database, { workspaceId: randomUUID(), plan: 'pro' }),
    (error) => error instanceof ApiError && error.code === 'not_found',
  );
});

const refused: [
  what: string,
  workspace: { name: string; rateLimit?: number; burst?: number },
  fields: string[],
][] = [
  ['an empty name', { name: '' }, ['name']],
  ['a name of 101 characters', { name: 'x'.repeat(101) }, ['name']],
  ['a name with NUL', { name: '\u0000' }, ['name']],
  ['no requests per minute', { name: 'A', rateLimit: 0 }, ['rate_limit']],
  ['more than a million requests per minute', { name: 'A', rateLimit: 1_000_001 }, ['rate_limit']],
  ['one and a half requests per minute', { name: 'A', rateLimit: 1.5 }, ['rate_limit']],
  ['a negative burst and no name', { name: ' ', burst: -1 }, ['name', 'burst']],
];

for (const [what, workspace, fields] of refused) {
  test(`a workspace with ${what} gives a \`validation_error\``, async () => {
    await assert.rejects(createWorkspace(database, { plan: 'free', ...workspace }), (error: unknown) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.code, 'validation_error');
      assert.deepEqual(
        error.errors?.map((item) => item.field),
        fields,
      );
      return true;
    });
  });
}
