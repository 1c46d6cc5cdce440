import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { APIError } from 'better-auth/api';
import { ApiError, type ErrorCode } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { openVault } from '#kit/vault.ts';
import { makePerson, password } from '#test/console.ts';
import { testDatabase } from '#test/database.ts';
import { addMember } from '../members.ts';
import { createWorkspace } from '../workspaces.ts';
import { passwordProblems } from './passwords.ts';
import { openAccounts } from './users.ts';

const { database } = await testDatabase();
const vault = openVault('ab'.repeat(32));
const log = openLog('silent');
const surroundings = { database, vault, log, publicUrl: 'http://127.0.0.1:3000' };
const accounts = openAccounts(surroundings);

const failsWith =
  (code: ErrorCode, fields: string[] = []) =>
  (error: unknown) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, code);
    assert.deepEqual(
      (error.errors ?? []).map((item) => item.field),
      fields,
    );
    return true;
  };

/** Sends a form to the authentication library as a browser would: same origin, JSON. */
async function post(
  path: string,
  body: object,
  service = accounts,
  origin = 'http://127.0.0.1:3000',
): Promise<Response> {
  const { auth } = await service.library();
  return auth.handler(
    new Request(`${origin}/api/auth/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin },
      body: JSON.stringify(body),
    }),
  );
}

const sessionOf = async (response: Response, service = accounts) => {
  const { auth } = await service.library();
  const cookie = response.headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ');
  return auth.api.getSession({ headers: new Headers({ Cookie: cookie }) });
};

test('a person signs in with email and password, with the email in any case', async () => {
  const { id } = await accounts.createUser({ email: 'Ada@Example.org', password });
  const response = await post('sign-in/email', { email: 'ADA@example.ORG', password });
  assert.equal(response.status, 200);
  const session = await sessionOf(response);
  assert.deepEqual(
    [session?.user.id, session?.user.email, session?.user.name],
    [id, 'ada@example.org', 'Ada'],
  );
});

test('a wrong password and an unknown email are refused in the same way', async () => {
  await makePerson(database, 'alike@example.org');
  const wrong = await post('sign-in/email', { email: 'alike@example.org', password: `${password}!` });
  const unknown = await post('sign-in/email', { email: 'unknown@example.org', password });
  assert.equal(wrong.status, 401);
  assert.equal(unknown.status, 401);
  assert.equal(await wrong.text(), await unknown.text());
});

test('a failed lookup in the authentication library is not a refusal', async () => {
  const { isRefusal } = await accounts.library();
  assert.equal(isRefusal(new APIError('UNAUTHORIZED')), true);
  assert.equal(isRefusal(new APIError('INTERNAL_SERVER_ERROR')), false);
  assert.equal(isRefusal(new Error('no connection')), false);
});

test('an account cannot be created over HTTP', async () => {
  const before = await database.query('select count(*) from users');
  const response = await post('sign-up/email', { email: 'eve@example.org', password, name: 'Eve' });
  assert.equal(response.status, 400);
  assert.deepEqual((await database.query('select count(*) from users')).rows, before.rows);
});

test('signing out deletes the session from the database', async () => {
  await makePerson(database, 'out@example.org');
  const signedIn = await post('sign-in/email', { email: 'out@example.org', password });
  const session = await sessionOf(signedIn);
  const { auth } = await accounts.library();
  await auth.api.signOut({
    headers: new Headers({ Cookie: signedIn.headers.getSetCookie()[0]!.split(';', 1)[0]! }),
  });
  assert.equal(await sessionOf(signedIn), null);
  const rows = await database.query('select from sessions where user_id = $1', [session!.user.id]);
  assert.equal(rows.rows.length, 0);
});

test('cookies are bound to the host, and to HTTPS if the service uses HTTPS', async () => {
  await makePerson(database, 'cookie@example.org');
  const plain = (
    await post('sign-in/email', { email: 'cookie@example.org', password })
  ).headers.getSetCookie();
  assert.match(plain[0]!, /^formloom\.session_token=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
  const origin = 'https://forms.example.org';
  const secure = openAccounts({ database, vault, log, publicUrl: origin });
  const response = await post('sign-in/email', { email: 'cookie@example.org', password }, secure, origin);
  const cookie = response.headers.getSetCookie()[0]!;
  assert.match(
    cookie,
    /^__Host-formloom\.session_token=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  assert.equal((await sessionOf(response, secure))?.user.email, 'cookie@example.org');
});

test('a form on another site cannot sign a person in', async () => {
  await makePerson(database, 'csrf@example.org');
  const response = await (await accounts.library()).auth.handler(
    new Request('http://127.0.0.1:3000/api/auth/sign-in/email', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Origin: 'https://evil.example',
        'Sec-Fetch-Site': 'cross-site',
        'Sec-Fetch-Mode': 'navigate',
      },
      body: JSON.stringify({ email: 'csrf@example.org', password }),
    }),
  );
  assert.equal(response.status, 403);
  assert.deepEqual(response.headers.getSetCookie(), []);
});

test('an email that is in use is a conflict, in any case and for two requests at the same time', async () => {
  await makePerson(database, 'taken@example.org');
  await assert.rejects(accounts.createUser({ email: 'Taken@Example.org', password }), failsWith('conflict'));
  const both = await Promise.allSettled([
    accounts.createUser({ email: 'race@example.org', password }),
    accounts.createUser({ email: 'race@example.org', password }),
  ]);
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

const refused: [
  what: string,
  user: { email?: string; password?: string; name?: string },
  fields: string[],
][] = [
  ['no address', { email: '' }, ['email']],
  ['an address without @', { email: 'ada.example.org' }, ['email']],
  ['an address without a domain', { email: 'ada@' }, ['email']],
  ['two addresses', { email: 'a@example.org,b@example.org' }, ['email']],
  ['an address of 255 characters', { email: `${'a'.repeat(243)}@example.org` }, ['email']],
  ['a password of 9 characters', { password: '123456789' }, ['password']],
  ['a password of 129 characters', { password: 'x'.repeat(129) }, ['password']],
  ['a password of 9 characters beyond 16 bits', { password: '𝒳𝒴𝒵𝒶𝒷𝒸𝒹𝒻𝒽' }, ['password']],
  ['a password of ten digits in a row', { password: '1234567890' }, ['password']],
  ['a common password and two digits', { password: 'password12' }, ['password']],
  ['a common password twice', { password: 'monkeymonkey' }, ['password']],
  ['ten blanks', { password: ' '.repeat(10) }, ['password']],
  ['a row of the keyboard backwards', { password: 'poiuytrewq' }, ['password']],
  [
    'its own address as the password',
    { email: 'lovelace@acme.org', password: 'Lovelace@ACME.org' },
    ['password'],
  ],
  ['its own name and the year', { name: 'Augusta Lovelace', password: 'lovelace2026' }, ['password']],
  ['the name of the service', { password: 'Formloom-2026' }, ['password']],
  ['a name with NUL and a bad address', { email: 'x', name: '\u0000' }, ['email', 'name']],
];

for (const [what, user, fields] of refused) {
  test(`an account with ${what} gives a \`validation_error\``, async () => {
    await assert.rejects(
      accounts.createUser({ email: 'fine@example.org', password, ...user }),
      failsWith('validation_error', fields),
    );
  });
}

const judged: [password: string, sentence: RegExp | undefined, words?: string[]][] = [
  ['1q2w3e4r5t', /too common/],
  ['princess 12', /too common/],
  ['7294 monkey 8351', undefined],
  ['iop[]asdfghj', /sequence of neighboring/],
  [';lkjhgfdsa][', /sequence of neighboring/],
  ['lovelace and her engines', undefined, ['Augusta Lovelace']],
  ['!?#*+~-_<>|@', undefined],
  ['0123456789abcdef'.repeat(8), undefined],
  [`${'0123456789abcdef'.repeat(8)}!`, /must have 10 to 128 characters/],
];

for (const [chosen, sentence, words = []] of judged) {
  test(`the password ${chosen} is ${sentence ? `refused: ${sentence.source}` : 'taken'}`, async () => {
    const problems = await passwordProblems('password', chosen, words);
    assert.equal(problems.length, sentence ? 1 : 0);
    if (sentence) assert.match(problems[0]!.message, sentence);
  });
}

test('a cookie signed with a previous key is signed again, and one without a valid signature stays unchanged', () => {
  const former = openVault('cd'.repeat(32));
  const both = openAccounts({ ...surroundings, vault: openVault(`${'ab'.repeat(32)},${'cd'.repeat(32)}`) });
  const signed = (by: string) => {
    const signature = createHmac('sha256', by).update('token').digest('base64');
    return `formloom.session_token=token.${encodeURIComponent(signature)}`;
  };
  const ours = signed(former.derive('sessions')[0]);
  assert.equal(both.readCookies(ours), signed(vault.derive('sessions')[0]));
  // Changes one letter of the signature and keeps its length.
  const altered = ours.replace(/(?<==token\..*)[g-z]/, (letter) => (letter === 'g' ? 'h' : 'g'));
  assert.notEqual(altered, ours);
  for (const forged of [altered, `${ours}x`, 'formloom.session_token=token.x'])
    assert.equal(both.readCookies(forged), forged);
});

test('a session cannot start without an account', async () => {
  const { beginSession, isRefusal } = await accounts.library();
  await assert.rejects(beginSession(randomUUID(), null, new Headers()), (error) => isRefusal(error));
});

test('a person can be a member of a workspace only once', async () => {
  const workspace = await createWorkspace(database, { name: 'Acme', plan: 'free' });
  const id = await makePerson(database, 'member@example.org');
  await addMember(database, { workspaceId: workspace.id, userId: id, role: 'editor' });
  const { rows } = await database.query('select workspace_id, role from members where user_id = $1', [id]);
  assert.deepEqual(rows, [{ workspace_id: workspace.id, role: 'editor' }]);
  await assert.rejects(
    addMember(database, { workspaceId: workspace.id, userId: id, role: 'owner' }),
    failsWith('conflict'),
  );
  await assert.rejects(
    addMember(database, { workspaceId: randomUUID(), userId: id, role: 'owner' }),
    failsWith('conflict'),
  );
});
