import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createForm } from '#forms/forms.ts';
import { runInvitationImportStep } from '#invitations/start-import.ts';
import { newId } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { findInstanceKey, openVault } from '#kit/vault.ts';
import { xlsxStream } from '#submissions/export/xlsx.ts';
import { isSlice } from '#test/cases.ts';
import { messageIn } from '#test/command-line.ts';
import { testDatabase } from '#test/database.ts';
import { closedPort } from '#test/service.ts';
import { authenticateApiKey, clearKeyCache } from '#workspaces/authenticate.ts';
import { joinWithNewAccount } from '#workspaces/member-invitations/accept.ts';
import { addMember } from '#workspaces/members.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { runCommandLine } from './run-command-line.ts';

const { database, url } = await testDatabase();
const dataDir = await mkdtemp(join(tmpdir(), 'formloom-cli-'));
// Lets the PostgreSQL user enter; otherwise its database is elsewhere and outlives this folder.
await chmod(dataDir, 0o755);
after(() => rm(dataDir, { recursive: true, force: true }));

const cli = fileURLToPath(new URL('../../../dist/service/cli.js', import.meta.url));
const environment = {
  PATH: process.env['PATH'],
  // As in setup.mjs, like --preserve-symlinks below: compiling is most of a command's time.
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  DATA_DIR: dataDir,
  DATABASE_URL: url,
};

type Outcome = { code: number; stdout: string; stderr: string };

/** Runs a command in this process, because a separate process takes 0.4 s and a hundred commands run here. */
async function formloom(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const outcome = { stdout: '', stderr: '' };
  const code = await runCommandLine(args, {
    environment: { ...environment, ...env },
    print: (text) => void (outcome.stdout += text),
    complain: (text) => void (outcome.stderr += text),
  });
  return { code, ...outcome };
}

/** Runs a command as an operator does: the process ends itself, with an exit code and two streams. */
function formloomProcess(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--preserve-symlinks', cli, ...args],
      { env: { ...environment, ...env }, timeout: 60_000 },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
      },
    );
  });
}

/** Runs a command with --json and returns its document, which must be its only output. */
async function answer(words: string, ...args: string[]) {
  return readAnswer(await formloom([...words.split(' '), ...args, '--json']));
}

function readAnswer({ code, stdout, stderr }: Outcome) {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(stdout, /^[^\n]+\n$/);
  return JSON.parse(stdout);
}

const isKnown = async (key: string): Promise<boolean> => {
  clearKeyCache();
  return authenticateApiKey({ database }, `Bearer ${key}`).then(
    () => true,
    (error: unknown) => {
      assert.ok(error instanceof ApiError);
      return false;
    },
  );
};

const structure = {
  type: 'form',
  attrs: { name: 'Contact' },
  children: [
    {
      type: 'step',
      attrs: { title: 'One', layout: 'stack' },
      children: [{ type: 'text', attrs: { id: 'subject', label: 'Subject', required: true }, children: [] }],
    },
  ],
};

/** Runs a command with --json in a separate process, and returns its document. */
async function answerOfProcess(words: string, ...args: string[]) {
  return readAnswer(await formloomProcess([...words.split(' '), ...args, '--json']));
}

test('workspace create, list and plan work in this process and in a separate one', async () => {
  // The name is stored in NFC, however the terminal composes it.
  const created = await answer('workspace create', 'Zoe\u0308 Inc.');
  assert.deepEqual(created, { id: created.id, name: 'Zoë Inc.', plan: 'enterprise' });
  const custom = await answer('workspace create Own --plan enterprise --rate-limit 7 --burst 0');
  assert.deepEqual(await answer('workspace plan', created.id, 'pro'), { ...created, plan: 'pro' });
  const { data } = await answerOfProcess('workspace list');
  assert.deepEqual(
    data.map(({ created_at: createdAt, ...rest }: { created_at: string }) => {
      assert.equal(new Date(createdAt).toISOString(), createdAt);
      return rest;
    }),
    [
      { ...custom, rate_limit: 7, burst: 0 },
      { ...created, plan: 'pro', rate_limit: 300, burst: 30 },
    ],
  );
});

test('key create, list and revoke: a key works, is shown once, and stops working immediately', async () => {
  const { id: workspace } = await createWorkspace(database, { name: 'Keys', plan: 'free' });
  const key = await answer('key create --name Site --workspace', workspace);
  assert.deepEqual(Object.keys(key), ['id', 'key']);
  assert.ok(await isKnown(key.key));
  const form = await createForm(database, workspace, { structure, status: 'draft' });
  const limited = await answer(
    'key create --name Reader --permissions forms:read,submissions:read --expires 2090-01-31 --forms',
    form.id,
    '--workspace',
    workspace,
  );
  const { data } = await answer('key list');
  const [reader, site] = data;
  assert.deepEqual(
    { ...reader, created_at: undefined },
    {
      id: limited.id,
      workspace_id: workspace,
      name: 'Reader',
      prefix: limited.key.slice(0, 11),
      permissions: ['forms:read', 'submissions:read'],
      form_ids: [form.id],
      created_at: undefined,
      expires_at: '2090-01-31T00:00:00.000Z',
      revoked_at: null,
      last_used_at: null,
    },
  );
  assert.equal(site.id, key.id);
  assert.ok(!JSON.stringify(data).includes(key.key));
  const revoked = await answer('key revoke', key.id);
  assert.deepEqual(revoked, { id: key.id });
  assert.ok(!(await isKnown(key.key)));
});

test('user create works with and without a workspace', async () => {
  const { id: workspace } = await createWorkspace(database, { name: 'People', plan: 'free' });
  const loner = await answer('user create --email loner@example.org --password correct-horse');
  const owner = await answer(
    'user create --email owner@example.org --password correct-horse --role owner --workspace',
    workspace,
  );
  assert.deepEqual(Object.keys(loner), ['id']);
  const { rows } = await database.query('select user_id, role from members where workspace_id = $1', [
    workspace,
  ]);
  assert.deepEqual(rows, [{ user_id: owner.id, role: 'owner' }]);
  // The workspace is derived from the member, unless they have two.
  assert.equal((await answer('members get', owner.id)).email, 'owner@example.org');
  const { id: other } = await createWorkspace(database, { name: 'Others', plan: 'free' });
  await addMember(database, { workspaceId: other, userId: owner.id, role: 'viewer' });
  const unsure = await formloom(['members', 'get', owner.id]);
  assert.deepEqual([unsure.code, unsure.stdout], [2, '']);
  assert.match(unsure.stderr, /member of 2 workspaces\. Choose one with --workspace <id>/);
  assert.equal((await answer('members get', owner.id, '--workspace', other)).role, 'viewer');
});

test('user invite returns a link through which a person joins the workspace', async () => {
  const { id: workspaceId } = await createWorkspace(database, { name: 'Invited', plan: 'free' });
  const email = 'invited@example.org';
  const invited = await answer('user invite --role owner --email', email, '--workspace', workspaceId);
  assert.deepEqual(Object.keys(invited), ['id', 'link']);
  const token = invited.link.split('/app/join/')[1];
  const vault = openVault((await findInstanceKey(dataDir, undefined))!);
  await joinWithNewAccount({ database, vault }, { token, name: 'Ida', password: 'correct-horse' });
  const { rows } = await database.query(
    'select role, email_verified from members join users on id = user_id where workspace_id = $1',
    [workspaceId],
  );
  assert.deepEqual(rows, [{ role: 'owner', email_verified: true }]);
});

test('user password returns a temporary password that signs in', async () => {
  const email = 'locked-out@example.org';
  const { id } = await answer('user create --password correct-horse --email', email);
  const reset = await answer('user password --email', email);
  assert.deepEqual(reset, { id, temporary_password: reset.temporary_password });
  assert.ok(reset.temporary_password.length >= 22, '128 random bits');
  const { code, stderr } = await formloom(['user', 'password', '--email', 'unknown@example.org']);
  assert.equal(code, 1);
  assert.match(stderr, /no account/);
});

test('user second-factor removes a lost second factor, and reports if there was one', async () => {
  const email = 'lost-phone@example.org';
  const { id } = await answer('user create --password correct-horse --email', email);
  await database.query('update users set second_factor = true where id = $1', [id]);
  assert.deepEqual(await answer('user second-factor --email', email), { id, had_any: true });
  assert.deepEqual(await answer('user second-factor --email', email), { id, had_any: false });
  assert.equal((await formloom(['user', 'second-factor', '--email', 'unknown@example.org'])).code, 1);
});

test('a user is not created if the workspace does not exist', async () => {
  const args = ['user', 'create', '--email', 'unknown@example.org', '--password', 'correct horse'];
  const { code } = await formloom([...args, '--workspace', randomUUID(), '--role', 'owner']);
  assert.equal(code, 1);
  assert.equal(
    (await database.query("select from users where email = 'unknown@example.org'")).rows.length,
    0,
  );
});

test('invitations import lists recipients and invalid lines; list shows links, and revoke disables one', async () => {
  const { id: workspace } = await createWorkspace(database, { name: 'Inviting', plan: 'free' });
  const form = await createForm(database, workspace, { structure, status: 'published' });
  const file = join(dataDir, 'people.csv');
  await writeFile(file, '\uFEFFE-Mail;Customer\r\nada@example.org;17\r\nnot-an-address;18\r\n');
  const started = await answer(
    'invitations import',
    form.id,
    '--kind',
    'csv',
    '--text',
    `@${file}`,
    '--no-send',
  );
  assert.deepEqual(
    [started.total, started.problems],
    [1, [{ line: 3, message: '"not-an-address" is not a valid email address.' }]],
  );
  // Does what a running server does with the job.
  const vault = openVault((await findInstanceKey(dataDir, undefined))!);
  const config = { publicUrl: 'https://forms.test', smtp: undefined };
  const { rows } = await database.query<{ id: string; kind: string; payload: object }>(
    `update jobs set lease_token = id where kind = 'invitations.import' returning id, kind, payload`,
  );
  const job = {
    ...rows[0]!,
    workspaceId: workspace,
    lane: '',
    leaseToken: rows[0]!.id,
    failures: 0,
    lostClaims: 0,
  };
  await runInvitationImportStep({ database, vault, config, wakeQueue: () => undefined }, job);
  const { data } = await answer('invitations list', form.id, '--status', 'pending');
  assert.deepEqual([data.length, data[0].email, data[0].status], [1, 'ada@example.org', 'pending']);
  assert.match(data[0].url, /\/f\/[0-9a-f-]+\?_invitation=[\w-]{43}$/);
  const { status } = await answer('invitations revoke', form.id, data[0].id);
  assert.equal(status, 'revoked');
  const refused = await formloom(['invitations', 'resend', form.id, data[0].id, '--json']);
  assert.match(refused.stderr, /SMTP_URL/);
});

test('webhook create, list and delete work, and so do delivery list and retry', {
  skip: isSlice,
}, async () => {
  const workspace = await createWorkspace(database, { name: 'Hooks', plan: 'pro' });
  const form = await createForm(database, workspace.id, { structure, status: 'published' });
  const create = `webhook create --form ${form.id} --url https://example.org/hook --events`;
  const plain = await answer(`${create} submission.created`);
  assert.deepEqual(Object.keys(plain), ['id']);
  const generated = await answer(`${create} submission.created,submission.deleted --generate-secret`);
  assert.ok(generated.secret.length >= 32);
  const chosen = await answer(`${create} submission.updated --secret`, 'a secret of my own');
  const listed = await answer('webhook list --form', form.id);
  assert.deepEqual(
    listed.data.map(({ id }: { id: string }) => id).sort(),
    [plain.id, generated.id, chosen.id].sort(),
  );
  assert.ok(!JSON.stringify(listed).includes(generated.secret));

  const filter = { element: 'subject', is: 'contains', value: 'loom' };
  const narrow = await answer(
    `${create} submission.created --no-pause-on-failure --filter`,
    JSON.stringify(filter),
  );
  const filterOf = async () => {
    const { webhook } = await answer('webhooks get', narrow.id);
    return [webhook.filter, webhook.pauses_on_failure];
  };
  assert.deepEqual(await filterOf(), [filter, false]);
  const other = { reference: 'utm', is: 'answered' };
  const filterFile = join(dataDir, 'filter.json');
  await writeFile(filterFile, JSON.stringify(other));
  await answer('webhooks change', narrow.id, '--filter', `@${filterFile}`);
  assert.deepEqual(await filterOf(), [other, false]);
  await answer('webhooks change', narrow.id, '--filter', 'null', '--pauses-on-failure');
  assert.deepEqual(await filterOf(), [null, true]);
  await answer('webhooks change', narrow.id, '--no-pauses-on-failure');
  assert.deepEqual(await filterOf(), [null, false]);
  const gone = JSON.stringify({ ...filter, element: 'gone' });
  const refused = await formloom(['webhooks', 'change', narrow.id, '--filter', gone]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /"gone", which is not an element of the form/);
  await answer('webhook delete', narrow.id);
  assert.ok(!JSON.stringify(listed).includes('a secret of my own'));

  const delivery = await insertFailedDelivery(workspace.id, form.id, plain.id);
  const { data } = await answer('delivery list --webhook', plain.id);
  assert.deepEqual(data, [
    {
      id: delivery,
      event: 'submission.created',
      status: 'Failed',
      created_at: '2026-01-02T03:04:05.000Z',
      attempts: 6,
      response_status: 500,
      response_ms: 12,
      next_attempt_at: null,
    },
  ]);
  const shown = await answer('deliveries get', delivery);
  assert.deepEqual([shown.id, JSON.parse(shown.request_body).delivery_id], [delivery, delivery]);
  assert.deepEqual(await answer('delivery retry', delivery), { id: delivery });
  const jobs = await database.query('select from jobs where id = $1', [delivery]);
  assert.equal(jobs.rows.length, 1);
  const rotated = await answer('webhooks set-secret', chosen.id, '--no-overlap');
  assert.match(rotated.secret, /^whsec_/);

  await database.query("update deliveries set status = 'Failed', next_attempt_at = null where id = $1", [
    delivery,
  ]);
  assert.deepEqual(await answer('replays count', plain.id, '--since', '2026-01-03'), { total: 0 });
  assert.deepEqual(await answer('replays count', plain.id, '--until', '2026-01-03'), { total: 1 });
  const begun = await answer('replays start', plain.id);
  assert.deepEqual([begun.state, begun.total, begun.filter.status], ['running', 1, 'Failed']);
  assert.deepEqual((await answer('replays list', plain.id)).data, [begun]);
  assert.equal((await answer('replays cancel', begun.id)).state, 'cancelled');

  const feed = await answer('events list --workspace', workspace.id);
  assert.deepEqual([feed.data.length, feed.next, feed.has_more], [1, '1', false]);
  const sent = await answerOfProcess('webhooks test --event submission.created', plain.id);
  assert.equal(sent.ids.length, 1);

  const slack = 'webhook create --url https://example.org/slack --events submission.created --format slack';
  const wide = await answer(`${slack} --workspace`, workspace.id);
  const all = (await answer('webhook list --workspace', workspace.id)).data;
  assert.deepEqual([all[0].id, all[0].form_id, all[0].format], [wide.id, null, 'slack']);

  assert.deepEqual(await answer('webhook delete', plain.id), { id: plain.id });
  assert.equal((await answer('webhook list --form', form.id)).data.length, 2);
});

async function insertFailedDelivery(workspace: string, form: string, webhook: string): Promise<string> {
  const [event, delivery] = [newId(), newId()];
  const at = new Date('2026-01-02T03:04:05Z');
  await database.query(
    `insert into events (workspace_id, id, form_id, submission_id, kind, occurred_at, snapshot)
     values ($1, $2, $3, $4, 'submission.created', $5, '{"form":{},"submission":{"file_uploads":{}}}')`,
    [workspace, event, form, newId(), at],
  );
  await database.query(
    `insert into deliveries (workspace_id, id, form_id, webhook_id, event_id, kind, status, attempts, response_status,
                             response_ms, created_at)
     values ($1, $2, $3, $4, $5, 'submission.created', 'Failed', 6, 500, 12, $6)`,
    [workspace, delivery, form, webhook, event, at],
  );
  return delivery;
}

const nothing = randomUUID();

const failures: [what: string, args: string[], code: 1 | 2, stderr: RegExp][] = [
  [
    'no command',
    [],
    2,
    /No command was given[^]*workspace +create, list, delete, restore, plan[^]*delivery +list, retry/,
  ],
  ['an unknown command', ['key', 'make'], 2, /Unknown command "key make"[^]*key create --name <text/],
  ['a misspelt command', ['form', 'list'], 2, /Unknown command "form list"\. Did you mean "forms list"\?/],
  ['half a command', ['delivery'], 2, /Unknown command "delivery"[^]*delivery list --webhook <id>/],
  ['an unknown option', ['workspace', 'list', '--all'], 2, /'--all'[^]*workspace list/],
  ['a misspelt option', ['forms', 'list', '--pag', '2'], 2, /'--pag'\. Did you mean --page\?/],
  ['an option of another command', ['key', 'list', '--plan', 'pro'], 2, /'--plan'[^]*key list/],
  ['a missing option', ['key', 'create', '--workspace', nothing], 2, /--name is missing[^]*key create/],
  ['a missing parameter', ['key', 'revoke'], 2, /<id> is missing[^]*key revoke <id>/],
  ['one word too many', ['workspace', 'create', 'Acme', 'Inc.'], 2, /Unexpected argument "Inc\."/],
  [
    'an option given twice',
    ['workspace', 'create', 'A', '--plan', 'pro', '--plan', 'free'],
    2,
    /--plan is specified twice/,
  ],
  [
    'a malformed list of ids',
    ['key', 'create', '--name', 'A', '--workspace', nothing, '--forms', `${nothing},x`],
    2,
    /--forms "[^"]+" must be an id \(a UUID\), separated by commas/,
  ],
  ['a malformed id', ['key', 'revoke', '12'], 2, /<id> "12" must be an id/],
  [
    'an unknown plan',
    ['workspace', 'create', 'A', '--plan', 'gold'],
    2,
    /one of free, pro, business, enterprise/,
  ],
  [
    'a rate that is no number',
    ['workspace', 'create', 'A', '--rate-limit', '1e3'],
    2,
    /must be a whole number/,
  ],
  [
    'a day that is not in the calendar',
    ['key', 'create', '--workspace', nothing, '--name', 'x', '--expires', '2027-02-30'],
    2,
    /--expires "2027-02-30" must be a date/,
  ],
  [
    'a workspace without a role',
    ['user', 'create', '--email', 'a@example.org', '--password', 'correct horse', '--workspace', nothing],
    2,
    /--workspace and --role must be used together/,
  ],
  [
    'two kinds of secret',
    [
      'webhook',
      'create',
      '--form',
      nothing,
      '--url',
      'https://a.example',
      '--events',
      'x',
      '--secret',
      's',
      '--generate-secret',
    ],
    2,
    /cannot be combined/,
  ],
  [
    'a filter that is no JSON',
    ['webhooks', 'change', nothing, '--filter', 'country=Germany'],
    2,
    /--filter "country=Germany" must be JSON/,
  ],
  [
    'yes and no at once',
    ['webhooks', 'change', nothing, '--active', '--no-active'],
    2,
    /--active and --no-active cannot be combined/,
  ],
  ['a field that is missing', ['webhooks', 'create', nothing, '--events', 'x'], 2, /--url is missing/],
  [
    'a word that is none of some',
    ['forms', 'list', '--status', 'gone'],
    2,
    /one of draft, published, archived/,
  ],
  [
    'a file that is not there',
    ['forms', 'create', '--body-file', '/nowhere'],
    2,
    /File not found: \/nowhere\.\n/,
  ],
  ['an irreversible command without a terminal', ['forms', 'delete', nothing], 2, /Confirm with --yes/],
  [
    'one of several workspaces',
    ['forms', 'list'],
    2,
    /There are \d+ workspaces\. Choose one with --workspace <id>/,
  ],
  [
    'a workspace that is not there',
    ['forms', 'list', '--workspace', nothing],
    1,
    /no workspace with this id/,
  ],
  ['a key without a service', ['forms', 'list', '--key', 'fl_x'], 2, /API keys are only used with --url/],
  [
    'a service without a key',
    ['--url', 'http://a.example', 'forms', 'list'],
    2,
    /FORMLOOM_API_KEY, --key-file or --key/,
  ],
  [
    'another service for what is of this one',
    ['--url', 'http://a.example', 'key', 'list'],
    2,
    /Unknown option '--url'/,
  ],
  ['a replay that does not exist', ['replays', 'cancel', nothing], 1, /There is no replay/],
  ['a key that does not exist', ['key', 'revoke', nothing], 1, /There is no API key/],
  ['a form that does not exist', ['webhook', 'list', '--form', nothing], 1, /There is no form/],
  ['a webhook that does not exist', ['delivery', 'list', '--webhook', nothing], 1, /There is no webhook/],
  [
    'a file of people that is not there',
    ['invitations', 'import', nothing, '--kind', 'csv', '--text', '@/nowhere.csv'],
    2,
    /File not found: \/nowhere\.csv\.\n/,
  ],
  ['a delivery that does not exist', ['delivery', 'retry', nothing], 1, /There is no delivery/],
  [
    'a workspace that does not exist',
    ['workspace', 'plan', nothing, 'pro'],
    1,
    /This workspace does not exist/,
  ],
  [
    'a name that is too long',
    ['workspace', 'create', 'x'.repeat(101)],
    1,
    /name: A name must have at most 100 characters/,
  ],
  [
    'a password that is too short',
    ['user', 'create', '--email', 'a', '--password', 'short'],
    1,
    /email: Enter a valid email address[^]*password: The password must have 10 to 128 characters/,
  ],
];

for (const [what, args, code, stderr] of failures) {
  test(`${what}: exit ${code}, with a message on standard error and nothing on standard output`, async () => {
    const outcome = await formloom(args);
    assert.equal(outcome.code, code, outcome.stderr);
    assert.equal(outcome.stdout, '');
    assert.match(outcome.stderr, stderr);
    assert.doesNotMatch(outcome.stderr, /\n\s+at /);
  });
}

test('with --json an error is one line of JSON on standard error: error, message and errors', async () => {
  const problem = async (...args: string[]) => {
    const { code, stdout, stderr } = await formloom([...args, '--json']);
    assert.equal(stdout, '');
    assert.match(stderr, /^[^\n]+\n$/);
    return {
      code,
      ...(JSON.parse(stderr) as { error: string; message: string; errors?: { field: string }[] }),
    };
  };
  assert.deepEqual(await problem('key', 'make'), {
    code: 2,
    error: 'usage',
    message: 'Unknown command "key make". Did you mean "key list"?',
  });
  assert.deepEqual(await problem('key', 'revoke', nothing), {
    code: 1,
    error: 'not_found',
    message: `There is no API key ${nothing}.`,
  });
  assert.deepEqual(await problem('forms', 'create', '--structure', '@/nowhere'), {
    code: 2,
    error: 'usage',
    message: 'File not found: /nowhere.',
  });
  const user = ['user', 'create', '--email', 'a', '--password', 'short'];
  const invalid = await problem(...user);
  assert.deepEqual(
    invalid.errors?.map(({ field }) => field),
    ['email', 'password'],
  );
  const away = ['--url', `http://127.0.0.1:${closedPort}`, '--key', 'fl_x', 'forms', 'list'];
  const unreached = await problem(...away);
  assert.deepEqual([unreached.code, unreached.error], [3, 'service_unavailable']);
});

test('every text, data and JSON option accepts @file, and @@ begins a text with @', {
  skip: isSlice,
}, async () => {
  const { id: workspaceId } = await createWorkspace(database, { name: 'Files', plan: 'pro' });
  const form = await createForm(database, workspaceId, { structure, status: 'published' });
  const file = async (name: string, content: string | Uint8Array): Promise<string> => {
    await writeFile(join(dataDir, name), content);
    return `@${join(dataDir, name)}`;
  };
  const csv = await file('answers.csv', 'Subject\nHello\n');
  const preview = ['submissions', 'preview-import', form.id, '--kind', 'csv'];
  assert.equal((await answer(preview.join(' '), '--text', csv)).total, 1);
  const workbook = Buffer.concat(await xlsxStream(Readable.from([])).toArray());
  const data = await file('answers.xlsx', workbook);
  const read = await formloom([...preview.slice(0, 3), '--kind', 'xlsx', '--data', data, '--json']);
  assert.doesNotMatch(read.stderr, /cannot be read|base64/);
  const note = await file('note.txt', 'From a file');
  const submission = await answer('submissions create', form.id, '--answers', '{"subject": "Hello"}');
  assert.equal((await answer('notes add', submission.id, '--text', note)).text, 'From a file');
  assert.equal((await answer('notes add', submission.id, '--text', '@@ada')).text, '@ada');
  for (const [content, why] of [
    [Buffer.from([0xff]), /is not UTF-8 text/],
    [undefined, /is a folder/],
  ] as const) {
    const from = content ? await file('bad', content) : `@${dataDir}`;
    assert.match((await formloom(['notes', 'add', submission.id, '--text', from])).stderr, why);
  }
});

test('a command with the wrong instance key is rejected; instance-key replace lists what is lost', async () => {
  const workspace = await createWorkspace(database, { name: 'Lost', plan: 'pro' });
  const form = await createForm(database, workspace.id, { structure, status: 'published' });
  const hook = await answer(
    `webhook create --form ${form.id} --url https://example.org/lost --events submission.created --secret`,
    'a secret of sixteen',
  );
  const other = { SECRET_KEY: '7e'.repeat(32) };
  const refused = await formloom(['workspace', 'list'], other);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /a key other than SECRET_KEY.*instance-key replace/s);
  const own = (await findInstanceKey(dataDir, undefined))!;
  try {
    const { code, stdout } = await formloom(['instance-key', 'replace', '--json'], other);
    const { data } = JSON.parse(stdout) as { data: { id: string; lost: string }[] };
    assert.equal(code, 0);
    assert.equal(data.find(({ id }) => id === hook.id)?.lost, 'secret');
    assert.equal((await formloom(['workspace', 'list'])).code, 1);
  } finally {
    await formloom(['instance-key', 'replace'], { SECRET_KEY: own });
  }
  assert.equal((await formloom(['workspace', 'list'])).code, 0);
});

test('a process that fails ends with its exit code, and explains the failure only on standard error', {
  skip: isSlice,
}, async () => {
  const [misunderstood, failed] = await Promise.all([
    formloomProcess(['key', 'make', '--json']),
    formloomProcess(['key', 'revoke', nothing, '--json']),
  ]);
  assert.deepEqual([misunderstood.code, misunderstood.stdout], [2, '']);
  assert.match(messageIn(misunderstood.stderr), /^Unknown command "key make"/);
  assert.deepEqual([failed.code, failed.stdout], [1, '']);
  assert.match(messageIn(failed.stderr), /^There is no API key/);
});

const environments: [what: string, env: Record<string, string>, code: 1 | 3, stderr: RegExp][] = [
  ['a wrong setting', { PORT: 'http' }, 1, /PORT is "http"/],
  [
    'a database that is away',
    { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
    3,
    /The database does not respond/,
  ],
  [
    'a database that does not exist',
    { DATABASE_URL: url.replace(/\/test_\w+/, '/missing') },
    1,
    /"missing" does not exist/,
  ],
];

for (const [what, env, code, stderr] of environments) {
  test(`${what}: exit ${code}, with a message on standard error`, async () => {
    const outcome = await formloom(['workspace', 'list', '--json'], env);
    assert.deepEqual([outcome.code, outcome.stdout], [code, '']);
    assert.match(messageIn(outcome.stderr), stderr);
    assert.doesNotMatch(messageIn(outcome.stderr), /\n\s+at /);
  });
}

test('--help explains the service, a group and a command on standard output, without a database', async () => {
  const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  const [all, group, one] = await Promise.all([
    formloom(['--help'], away),
    formloom(['key', '--help'], away),
    formloom(['key', 'create', '-h'], away),
  ]);
  assert.match(
    all.stdout,
    /workspace +create, list, delete, restore, plan[^]*forms +pull, plan, apply, list, create, get[^]*Exit codes: 0 /,
  );
  assert.match(group.stdout, /key list[^]*key create[^]*key revoke/);
  assert.doesNotMatch(group.stdout, /workspace create/);
  assert.match(
    one.stdout,
    /key create --name <text\|@file> \[--permissions <a,b>\] \[--forms <a,b>\] \[--expires <date>\]/,
  );
  assert.doesNotMatch(one.stdout, /key list/);
  const operation = await formloom(['forms', 'create', '--help'], away);
  assert.match(
    operation.stdout,
    /--structure <json\|@file> +The form as a tree[^]*--no-publish[^]*--key-file/,
  );
  assert.match(
    operation.stdout,
    /POST \/forms · requires the permission forms:write\nExample: forms create --str/,
  );
  assert.equal((await formloom(['help'], away)).stdout, all.stdout);
  assert.equal((await formloom(['help', 'key'], away)).stdout, group.stdout);
  for (const { code, stderr } of [all, group, one]) assert.deepEqual([code, stderr], [0, '']);
});

test('--json may precede the command', async () => {
  const { code, stdout } = await formloom(['--json', 'workspace', 'list']);
  assert.equal(code, 0);
  assert.ok(Array.isArray(JSON.parse(stdout).data));
});

test('without --json a command prints lines and a table, and names cannot inject terminal sequences', async () => {
  const { id } = await createWorkspace(database, { name: 'Red \u001b[31mAlert', plan: 'free' });
  const listed = await formloom(['workspace', 'list']);
  assert.match(listed.stdout, /^id +name +plan +rate_limit +burst +created_at\n/);
  assert.match(listed.stdout, new RegExp(`${id}  Red \ufffd\\[31mAlert`));
  const created = await formloom(['key', 'create', '--workspace', id, '--name', 'Site']);
  assert.match(created.stdout, /^id +[0-9a-f-]{36}\nkey +fl_\S{43}\nThe key will not be shown again\.\n$/);
});

test('a JSON document is printed as JSON, and a text of several lines as its lines', async () => {
  const { id: workspaceId } = await createWorkspace(database, { name: 'Schemas', plan: 'pro' });
  const labelled = structuredClone(structure);
  labelled.children[0]!.children[0]!.attrs.label = 'Say "loom"\u009b[31m';
  const form = await createForm(database, workspaceId, { structure: labelled, status: 'published' });
  const { type_script: type, samples } = await answer('payload-samples get', form.id);
  const { stdout } = await formloom(['payload-samples', 'get', form.id]);
  const width = 'type_script  '.length;
  const lines = stdout.trimEnd().split('\n');
  const of = (name: string): string => {
    const start = lines.findIndex((line) => line.startsWith(name));
    const end = lines.findIndex((line, index) => index > start && line[0] !== ' ');
    return lines
      .slice(start, end === -1 ? undefined : end)
      .map((line) => line.slice(width))
      .join('\n');
  };
  assert.equal(of('type_script'), type.trimEnd().replaceAll('\u009b', '\ufffd'));
  assert.match(stdout, /Say \\"loom\\"/);
  const kinds = (found: { event: string }[]) => found.map(({ event }) => event);
  assert.deepEqual(kinds(JSON.parse(of('samples'))), kinds(samples));
});

test('without a database a command names the folder it searched and creates nothing; only database create does', {
  skip: isSlice,
}, async () => {
  const fresh = { DATA_DIR: join(dataDir, 'fresh'), DATABASE_URL: '' };
  for (const words of ['workspace create First', 'user password --email a@example.org', 'key list']) {
    const refused = await formloom(words.split(' '), fresh);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(
      refused.stderr,
      /No database found in \S+\/fresh \(DATA_DIR\)[^]*npm start[^]*database create/,
    );
    await assert.rejects(stat(fresh.DATA_DIR), { code: 'ENOENT' });
  }
  const begun = await formloomProcess(['database', 'create', '--json'], fresh);
  assert.deepEqual([begun.code, begun.stderr], [0, '']);
  assert.match(JSON.parse(begun.stdout).database, /^Embedded PostgreSQL in .*fresh.postgres$/);
  const created = await formloom(['workspace', 'create', 'First', '--json'], fresh);
  assert.deepEqual([created.code, created.stderr], [0, '']);
  const both = await Promise.all([
    formloomProcess(['workspace', 'list', '--json'], fresh),
    formloomProcess(
      ['key', 'create', '--workspace', JSON.parse(created.stdout).id, '--name', 'At once', '--json'],
      fresh,
    ),
  ]);
  for (const { code, stderr } of both) assert.deepEqual([code, stderr], [0, '']);
  assert.equal(JSON.parse(both[0].stdout).data[0].name, 'First');
});
