import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canEnterDirectory, choosePostgresAccount, parsePasswdFile } from './machine.ts';

const root = { name: 'root', uid: 0, gid: 0 };
const nobody = { name: 'nobody', uid: 65534, gid: 65533 };
const postgres = { name: 'postgres', uid: 101, gid: 104 };
const alice = { name: 'alice', uid: 1000, gid: 1000 };

test('accounts are read from /etc/passwd, and other lines are skipped', () => {
  const passwd =
    'root:x:0:0:root:/root:/bin/bash\n# note\n\n+::::::\nnobody:x:65534:65533::/nonexistent:/bin/false\n';
  assert.deepEqual(parsePasswdFile(passwd), [root, nobody]);
  assert.deepEqual(parsePasswdFile(''), []);
});

test('root runs PostgreSQL as postgres, or else as nobody, and an existing cluster as its owner', () => {
  const cases: Array<
    [accounts: (typeof root)[], owner: number | undefined, chosen: typeof root | undefined]
  > = [
    [[root, nobody, postgres], undefined, postgres],
    [[root, nobody], undefined, nobody],
    [[root], undefined, undefined],
    [[{ ...root, name: 'postgres' }, nobody], undefined, nobody],
    [[root, nobody, postgres], nobody.uid, nobody],
    [[root, alice, postgres], alice.uid, alice],
    [[root, postgres], 4711, undefined],
    [[root, postgres], 0, undefined],
  ];
  for (const [accounts, owner, chosen] of cases)
    assert.deepEqual(choosePostgresAccount(accounts, owner), chosen);
});

test("the execute bit of a user's permission class decides whether the user may enter", () => {
  const mine = { uid: alice.uid, gid: 0 };
  const ours = { uid: 0, gid: alice.gid };
  const theirs = { uid: 0, gid: 0 };
  for (const [owner, mode, may] of [
    [mine, 0o700, true],
    [mine, 0o077, false],
    [ours, 0o710, true],
    [ours, 0o701, false],
    [theirs, 0o701, true],
    [theirs, 0o770, false],
  ] as const) {
    assert.equal(canEnterDirectory({ ...owner, mode: 0o40000 + mode }, alice), may, mode.toString(8));
  }
});
