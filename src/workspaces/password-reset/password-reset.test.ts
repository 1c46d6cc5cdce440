import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '#kit/errors.ts';
import { testDatabase } from '#test/database.ts';
import { confirmPassword } from '../queries.ts';
import { createUser, resetUserPassword } from '../users.ts';
import { createWorkspace } from '../workspaces.ts';
import { beginPasswordReset, finishPasswordReset } from './password-reset.ts';

const { database } = await testDatabase();
const password = 'correct horse battery';

test('a person whose password the operator replaced is told of it', async () => {
  await createWorkspace(database, { name: 'Test', plan: 'free' });
  const { id } = await createUser(database, { email: 'told@example.org', password });
  await resetUserPassword(database, 'told@example.org');
  const { rows } = await database.query("select payload from jobs where kind = 'mail_news'");
  assert.deepEqual(
    rows.map(({ payload }) => payload),
    [{ kind: 'password_changed', userId: id }],
  );
});

const changes: [how: string, change: (person: { id: string; email: string }) => Promise<unknown>][] = [
  ['by the person', ({ id }) => confirmPassword(database, { id })],
  ['by the operator', ({ email }) => resetUserPassword(database, email)],
];

for (const [index, [how, change]] of changes.entries()) {
  test(`a link to choose another password ends when the password is changed ${how} meanwhile`, async () => {
    const email = `ada-${index}@example.org`;
    const { id } = await createUser(database, { email, password });
    const token = (await beginPasswordReset(database, email))!;
    await change({ id, email });
    await assert.rejects(
      finishPasswordReset(database, { token, password: 'a password of my own' }),
      (error: unknown) => error instanceof ApiError && error.code === 'gone',
    );
  });
}
