import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { allCommands } from '#app/cli/commands.ts';
import { completionScript, shells } from '#app/cli/completion.ts';
import { exampleArguments, operationCommand } from '#app/cli/operation-commands.ts';
import { readInput } from '#app/cli/read-input.ts';
import { runCommandLine } from '#app/cli/run-command-line.ts';
import { type ApiRequest, pathParameterNameOf } from '#app/operations/call-operation.ts';
import { type ApiRoute, apiRoutes } from '#app/operations/operations.ts';
import { sessionRoutes } from '#app/operations/routes.ts';
import { permissionNames } from '#rules/permissions.ts';
import { element, structure } from './ast/forms.ts';
import { isSlice } from './cases.ts';
import { messageIn } from './command-line.ts';
import { idIn, makeOneOfEach } from './one-of-each.ts';
import { openService } from './service.ts';
import { makeForm, openVisitor } from './visitor.ts';

/* Rules for every operation of the table, including future ones. */
const service = await openService();
const tenant = await service.makeTenant();
const made = await makeOneOfEach(service, tenant);
const routes = apiRoutes(service.services);
const commands = await allCommands();

/** Returns a line for each operation that breaks a rule. Tests expect none. */
const offences = (find: (route: ApiRoute) => string | false | undefined): string[] =>
  routes.flatMap((route) => {
    const what = find(route);
    return what ? [`${route.name}: ${what}`] : [];
  });

test('every operation requires a permission of the table', () => {
  assert.deepEqual(
    offences(({ operation }) => !permissionNames.includes(operation.permission) && 'has none'),
    [],
  );
});

test('every operation with a body or a required query has an example of it', () => {
  const lacks = ({ operation: { body, bodyContent, query, isBodyOptional, example } }: ApiRoute) =>
    ((body ?? bodyContent) !== undefined && !isBodyOptional && example.body === undefined) ||
    ((query.required?.length ?? 0) > 0 && example.query === undefined);
  assert.deepEqual(
    offences((route) => lacks(route) && 'has no example'),
    [],
  );
});

test('the permission matrix has a resource for every operation', () => {
  assert.deepEqual(
    offences(
      ({ path }) => path.includes(':id') && idIn(path, made) === undefined && 'is not in one-of-each.ts',
    ),
    [],
  );
});

test('every operation is a command of two words with its own line in the help', () => {
  const names = commands.map(({ name }) => name);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
  assert.deepEqual(
    offences((route) => {
      const { name } = operationCommand(route);
      if (!names.includes(name)) return `is not among the commands (${name})`;
      return !/^[a-z]+(-[a-z]+)* [a-z]+(-[a-z]+)*$/.test(name) && `is called "${name}"`;
    }),
    [],
  );
});

test('the example of every operation can be written as options and makes the same request', async () => {
  const said = async (route: ApiRoute) => {
    const command = operationCommand(route);
    assert.ok(command.at === 'api');
    const ids = Object.keys(command.parameters).map((name) =>
      /^(version|number)$/.test(name) ? '1' : made['forms']!,
    );
    const sure = route.operation.isDestructive ? ['--yes'] : [];
    const words = exampleArguments(route);
    if (route.operation.bodyContent) {
      const file = join(service.dataDir, words.pop()!);
      await writeFile(file, route.operation.example.body as Buffer);
      words.push(file);
    }
    const { input } = readInput(command, [], [...ids, ...words, ...sure]);
    let sent: ApiRequest | undefined;
    const api = async (request: ApiRequest) => {
      sent = request;
      throw new Error('sent');
    };
    const context = {
      api,
      remote: undefined,
      signal: undefined,
      reader: undefined,
      json: false,
      confirm: async () => {},
      write: async () => {},
    };
    await assert.rejects(command.run(context, input!), /^Error: sent$/, route.name);
    return { query: sent!.query, body: sent!.body };
  };
  for (const route of routes) {
    const { operation } = route;
    const { query = {}, body } = operation.example;
    const takesBody = operation.body ?? operation.bodyContent;
    const asText = Object.entries(query as object).map(([name, value]) => [name, String(value)]);
    assert.deepEqual(
      await said(route),
      { query: Object.fromEntries(asText), body: takesBody && (body ?? {}) },
      route.name,
    );
  }
});

test('no field of an operation has the name of an option with another meaning', () => {
  const taken = 'json help yes all output body-file idempotency-key if-match etag-file'.split(' ');
  assert.deepEqual(
    offences(({ path, operation: { query, body, params } }) => {
      const fields = [...Object.keys(query.properties), ...Object.keys(body?.properties ?? {})];
      const places = Object.keys(params.properties).map((name) => pathParameterNameOf(path, name));
      const names = [...places, ...fields.map((field) => field.replaceAll('_', '-'))];
      const twice = names.filter((name, index) => names.indexOf(name) !== index || taken.includes(name));
      return twice.join(', ');
    }),
    [],
  );
});

test('the console has its own operations only for actions that need a browser session', () => {
  assert.deepEqual(Object.values(sessionRoutes), [
    'GET /session',
    'POST /session',
    'DELETE /session',
    'GET /session/ways',
    'POST /session/provider-requests',
    'POST /session/provider',
    'POST /session/passkey-requests',
    'POST /session/passkey',
    'POST /session/second-step',
    'PATCH /person',
    'GET /person/notifications',
    'PATCH /person/notifications',
    'DELETE /person',
    'POST /person/returns',
    'PUT /person/password',
    'GET /person/sessions',
    'GET /person/activity',
    'DELETE /person/sessions/:id',
    'DELETE /person/sessions',
    'GET /person/second-factors',
    'POST /person/totp',
    'PUT /person/totp',
    'DELETE /person/totp',
    'POST /person/passkey-requests',
    'POST /person/passkeys',
    'PATCH /person/passkeys/:id',
    'DELETE /person/passkeys/:id',
    'POST /person/recovery-codes',
    'POST /password-resets',
    'PUT /password-resets',
    'POST /joins/lookups',
    'POST /joins/accounts',
    'POST /joins',
    'POST /workspaces',
    'DELETE /workspaces/:id',
    'POST /workspaces/:id/returns',
    'DELETE /memberships/:id',
    'GET /forms/:id/locate',
    'GET /forms/:id/arrangement',
    'PUT /forms/:id/arrangement',
  ]);
});

// Local and remote
// --------------------------------------------------------------------------------------------

const fullKey = made.key;
type Outcome = { code: number; stdout: string; stderr: string };
async function formloom(
  args: readonly string[],
  env: Record<string, string>,
  isSure?: boolean,
): Promise<Outcome> {
  const outcome = { stdout: '', stderr: '' };
  const code = await runCommandLine(args, {
    environment: env,
    print: (text) => void (outcome.stdout += String(text)),
    complain: (text) => void (outcome.stderr += text),
    ...(isSure !== undefined && { ask: async () => isSure }),
  });
  return { code, ...outcome };
}
const here = (...args: string[]) => formloom(args, service.environment);
const there = (...args: string[]) => formloom(args, { FORMLOOM_URL: service.url, FORMLOOM_API_KEY: fullKey });
const answerOf = ({ code, stdout, stderr }: Outcome) => {
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^[^\n]+\n$/);
  return JSON.parse(stdout);
};

test('reads give the same results locally and against another service', async () => {
  const reads = [
    ['forms', 'list'],
    ['forms', 'get', made['forms']!],
    ['forms', 'submissions', made['forms']!, '--all'],
    ['submissions', 'get', made['submissions']!],
    ['submissions', 'search', '--q', 'word'],
    ['webhooks', 'list', made['forms']!],
    ['webhook', 'list', '--form', made['forms']!],
    ['delivery', 'list', '--webhook', made['webhooks']!],
    ['deliveries', 'get', made['deliveries']!],
    ['replays', 'list', made['webhooks']!],
  ];
  for (const args of reads) {
    const [near, far] = [answerOf(await here(...args, '--json')), answerOf(await there(...args, '--json'))];
    assert.deepEqual(near, far, args.join(' '));
    assert.ok(JSON.stringify(near).length > 40, args.join(' '));
  }
});

test('local changes are visible remotely, and remote ones locally', async () => {
  const file = join(service.dataDir, 'form.json');
  await writeFile(file, JSON.stringify(structure(element('text', 'a'))));
  const form = answerOf(await here('forms', 'create', '--structure', `@${file}`, '--publish', '--json'));
  assert.equal(answerOf(await there('forms', 'get', form.id, '--json')).status, 'published');
  const url = 'https://hooks.example.com/x';
  const create = ['webhooks', 'create', form.id, '--events', 'submission.created', '--url', url];
  const far = ['--url', service.url, '--key', fullKey];
  const hook = answerOf(await formloom([...far, ...create, '--secret', 'generate', '--json'], {}));
  assert.match(hook.secret, /^whsec_/);
  const body = join(service.dataDir, 'change.json');
  await writeFile(body, JSON.stringify({ active: true, events: ['submission.deleted'] }));
  answerOf(await here('webhooks', 'change', hook.id, '--body-file', body, '--no-active', '--json'));
  const { webhook } = answerOf(await there('webhooks', 'get', hook.id, '--json'));
  assert.deepEqual([webhook.active, webhook.events, webhook.url], [false, ['submission.deleted'], url]);
  assert.deepEqual(answerOf(await there('webhook', 'delete', hook.id, '--json')), { id: hook.id });
  assert.equal((await here('webhooks', 'get', hook.id)).code, 1);
});

test('a list is read to its end, by cursor or page by page', async () => {
  await service.makeTenant();
  const ids = [];
  for (let count = 0; count < 3; count += 1) ids.unshift((await makeForm(tenant, [element('text', 'a')])).id);
  for (const run of [here, there]) {
    const { data } = answerOf(
      await run(
        'forms',
        'list',
        '--all',
        '--per-page',
        '2',
        '--json',
        ...(run === here ? ['--workspace', tenant.workspaceId] : []),
      ),
    );
    assert.deepEqual(
      data.slice(0, 3).map(({ id }: { id: string }) => id),
      ids,
    );
    assert.ok(data.length > 3);
  }
});

test('a POST repeated with its idempotency key takes effect once', async () => {
  const args = ['forms', 'create', '--structure', JSON.stringify(structure(element('text', 'a')))];
  for (const run of [here, there]) {
    const send = () =>
      run(
        ...args,
        '--idempotency-key',
        'once',
        '--json',
        ...(run === here ? ['--workspace', tenant.workspaceId] : []),
      );
    assert.equal(answerOf(await send()).id, answerOf(await send()).id);
  }
});

test('a file is sent unchanged, locally and remotely, and an invalid file is refused the same way', async () => {
  const { example } = routes.find(({ name }) => name === 'createImage')!.operation;
  const [image, text] = [join(service.dataDir, 'logo.png'), join(service.dataDir, 'logo.txt')];
  await writeFile(image, example.body as Buffer);
  await writeFile(text, 'no image');
  for (const run of [here, there]) {
    const where = run === here ? ['--workspace', tenant.workspaceId] : [];
    const { id } = answerOf(await run('images', 'create', '--body-file', image, '--json', ...where));
    const theme = JSON.stringify({ theme: { logo: id } });
    answerOf(await run('forms', 'change', made['forms']!, '--settings', theme, '--json'));
    assert.equal((await run('images', 'create', '--body-file', text, ...where)).code, 1);
    const missing = await run('images', 'create', '--body-file', `${image}x`, ...where);
    assert.deepEqual([missing.code, missing.stdout], [2, '']);
  }
});

test('a resource that changed since it was read stays unchanged, locally and remotely', async () => {
  const { id } = await makeForm(tenant, [element('text', 'a')]);
  const file = join(service.dataDir, 'etag');
  const change = ['forms', 'update', id, '--structure', JSON.stringify(structure(element('text', 'b')))];
  for (const run of [here, there]) {
    answerOf(await run('forms', 'get', id, '--etag-file', file, '--json'));
    answerOf(await run(...change, '--if-match', `@${file}`, '--json'));
    const { code, stderr } = await run(...change, '--if-match', `@${file}`);
    assert.deepEqual(
      [code, stderr],
      [
        1,
        'formloom: This was changed after you read it, so nothing was done. Get the current version, then try again.\n',
      ],
    );
  }
});

test('a refused request gives the same message and exit code locally and remotely', async () => {
  const wrong = ['webhooks', 'create', made['forms']!, '--url', 'http://a.example', '--events', 'nothing'];
  const [near, far] = [await here(...wrong), await there(...wrong)];
  assert.deepEqual(near, far);
  assert.deepEqual([near.code, near.stdout], [1, '']);
  assert.match(near.stderr, /^formloom: [^]*\n {2}url: [^]*\n {2}events/);
});

test('a permanent change asks for confirmation at a terminal and does nothing without a yes', async () => {
  const { id } = await makeForm(tenant, [element('text', 'a')]);
  const remove = (isSure?: boolean, ...more: string[]) =>
    formloom(['forms', 'delete', id, ...more, '--json'], service.environment, isSure);
  const unasked = await remove();
  assert.deepEqual([unasked.code, unasked.stdout], [2, '']);
  const declined = await remove(false);
  assert.deepEqual(JSON.parse(declined.stderr), { error: 'declined', message: 'Nothing was changed.' });
  assert.equal(declined.code, 1);
  assert.equal((await tenant.call('GET', `/forms/${id}`)).status, 200);
  assert.deepEqual(answerOf(await remove(true)), { id });
  const { id: other } = await makeForm(tenant, [element('text', 'a')]);
  answerOf(await here('forms', 'delete', other, '--yes', '--json'));
  assert.equal((await tenant.call('GET', `/forms/${other}`)).status, 404);
});

test('no error message contains a key, wherever it was given', async () => {
  const wrong = `${fullKey.slice(0, -1)}!`;
  const away = 'http://127.0.0.1:1';
  const tries: [code: number, args: string[], env?: Record<string, string>][] = [
    [3, ['--url', away, '--key', fullKey, 'forms', 'list']],
    [1, ['--url', service.url, '--key', wrong, 'forms', 'list']],
    [2, ['forms', 'list', fullKey]],
    [2, [fullKey, 'list']],
    [2, ['forms', 'list', '--key', fullKey]],
    [2, ['forms', 'list', '--url', `http://x:${fullKey}@127.0.0.1`, '--key', fullKey]],
    [2, ['forms', 'list', '--page', fullKey]],
    [2, ['forms', 'list', '--url', away], { FORMLOOM_API_KEY: `${fullKey}\u00e4` }],
    [1, ['--url', `${service.url}/app`, '--key', fullKey, 'forms', 'list']],
  ];
  for (const [code, args, env = {}] of tries) {
    const outcome = await formloom(args, env);
    assert.equal(outcome.code, code, outcome.stderr);
    assert.equal(outcome.stdout, '');
    assert.ok(!outcome.stderr.includes(fullKey.slice(0, 16)), outcome.stderr);
    assert.doesNotMatch(outcome.stderr, /\n\s+at /);
  }
});

// Forms as files ----------------------------------------------------------------------------------------------

test('a folder of forms is pulled, planned and applied, locally and remotely, and repeating it changes nothing', async () => {
  for (const run of [here, there]) {
    const own = await service.makeTenant();
    const ownKey = await own.makeKey(['forms:read', 'forms:write', 'submissions:read']);
    const ask = (...args: string[]) =>
      run === here
        ? here(...args, '--workspace', own.workspaceId, '--json')
        : formloom([...args, '--json'], { FORMLOOM_URL: service.url, FORMLOOM_API_KEY: ownKey });
    const folder = await mkdtemp(join(service.dataDir, 'forms-'));
    const step = ask.bind(undefined, 'forms');
    const write = (name: string, form: object) => writeFile(join(folder, name), JSON.stringify(form));
    const plans = async () =>
      answerOf(await step('plan', folder)).data.map((line: Record<string, unknown>) => [
        line['file'],
        line['action'],
      ]);
    const form = await makeForm(own, [
      element('radio', 'colour', { options: ['Red', 'Blue'] }),
      element('text', 'b'),
    ]);
    await openVisitor(service).submit(form.id, { colour: 'Blue' });
    assert.deepEqual(await plans(), []);
    const [{ file }] = answerOf(await step('pull', folder)).data;
    assert.deepEqual(answerOf(await step('pull', folder)).data[0].action, 'none');
    assert.deepEqual(await plans(), [[file, 'none']]);
    const pulled = JSON.parse(await readFile(join(folder, file), 'utf8'));
    assert.deepEqual(Object.keys(pulled), ['id', 'status', 'structure', 'settings']);
    const [colour, text] = pulled.structure.children[0].children;
    colour.attrs.options = ['Red'];
    pulled.structure.children[0].children = [text, colour, element('email', 'c')];
    await write(file, { ...pulled, settings: { ...pulled.settings, language: 'german' } });
    const code = (name: string) =>
      `const form = ${JSON.stringify(structure(element('text', 'a')))};\nexport default { status: 'published' as const, structure: { ...form, attrs: { name: '${name}' } } };`;
    await writeFile(join(folder, 'new.ts'), code('New'));
    const [changed, fresh] = answerOf(await step('plan', folder)).data;
    assert.deepEqual([fresh.file, fresh.action, fresh.id, fresh.name], ['new.ts', 'create', null, 'New']);
    assert.deepEqual(
      changed.changes.map(({ change, what, name }: Record<string, string>) => [change, what, name].join(' ')),
      ['moved b ', 'changed colour options', 'added c ', 'changed language '],
    );
    assert.deepEqual(
      [changed.impact.length, changed.impact[0].option, changed.impact[0].answers],
      [1, 'Blue', 1],
    );
    assert.deepEqual(
      (
        await run(
          'forms',
          'get',
          form.id,
          '--json',
          ...(run === here ? [] : ['--key', ownKey, '--url', service.url]),
        )
      ).code,
      0,
    );
    const applied = answerOf(await step('apply', folder)).data;
    assert.deepEqual(
      applied.map(({ action }: Record<string, string>) => action),
      ['update', 'create'],
    );
    assert.deepEqual(await plans(), [
      [file, 'none'],
      ['new.ts', 'none'],
    ]);
    assert.deepEqual(
      answerOf(await step('apply', folder)).data.map(({ id }: Record<string, string>) => id),
      [form.id, applied[1].id],
    );
    assert.equal((await own.call('GET', `/forms/${applied[1].id}`)).body.status, 'published');
    // If one of several forms is refused, none of them changes.
    await write(file, { ...pulled, structure: { type: 'form', attrs: {}, children: [] } });
    await writeFile(join(folder, 'newer.ts'), code('Newer'));
    const refused = await step('apply', folder);
    assert.deepEqual([refused.code, JSON.parse(refused.stdout).data[0].problems.length], [1, 2]);
    assert.equal((await own.call('GET', '/forms')).body.data.length, 2);
    // Invalid files and ambiguous ones are reported before any request.
    await write('other.json', { structure: structure(), colour: 'red' });
    assert.match(
      messageIn((await step('plan', folder)).stderr),
      /^other\.json has the unknown field "colour"/,
    );
    await write('other.json', { id: form.id, structure: structure(element('text', 'a')) });
    const twice = await step('plan', folder);
    assert.deepEqual([twice.code, twice.stdout], [2, '']);
    assert.match(messageIn(twice.stderr), /both contain the form/);
    assert.equal((await step('plan', join(folder, 'none'))).code, 2);
  }
});

test('a read-only key plans without counting answers, and the plan is printed as lines', async () => {
  const own = await service.makeTenant();
  const form = await makeForm(own, [element('text', 'a')]);
  const folder = await mkdtemp(join(service.dataDir, 'forms-'));
  const change = { id: form.id, structure: structure(element('text', 'a', { label: 'Other' })) };
  await writeFile(join(folder, 'a.json'), JSON.stringify(change));
  const env = { FORMLOOM_URL: service.url, FORMLOOM_API_KEY: await own.makeKey(['forms:read']) };
  const { code, stdout } = await formloom(['forms', 'plan', folder], env);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^a\.json: "[^"]+" changes\n {2}~ a\.label: "[^"]+" -> "Other"\n {2}! This API key cannot/,
  );
  const tried = await formloom(['forms', 'apply', folder], env);
  assert.deepEqual([tried.code, tried.stdout], [1, '']);
});

test('a plan warns about misspelled attributes and empty composites of new, changed and unchanged forms', async () => {
  const own = await service.makeTenant();
  const form = await makeForm(own, [element('text', 'a')]);
  const folder = await mkdtemp(join(service.dataDir, 'forms-'));
  const slips = structure(element('text', 'a', { requird: true }), {
    type: 'composite',
    attrs: { id: 'g', label: 'G' },
  });
  await writeFile(join(folder, 'changed.json'), JSON.stringify({ id: form.id, structure: slips }));
  const unnamed = { ...slips, attrs: { name: 'New' } };
  await writeFile(join(folder, 'new.json'), JSON.stringify({ structure: unnamed }));
  const { code, stdout } = await here('forms', 'plan', folder, '--workspace', own.workspaceId, '--json');
  assert.equal(code, 0);
  type Plan = { action: string; problems: object[]; warnings: { rule: string; path: number[] }[] };
  const { data } = JSON.parse(stdout) as { data: Plan[] };
  assert.deepEqual(data.map(({ action }) => action).toSorted(), ['create', 'update']);
  for (const { problems, warnings } of data)
    assert.deepEqual(
      [problems, ...warnings.map(({ rule, path }) => [rule, path])],
      [[], ['misspelt-attribute', [0, 0]], ['empty-composite', [0, 1]]],
    );
  await here('forms', 'apply', folder, '--workspace', own.workspaceId, '--json');
  const again = await here('forms', 'plan', folder, '--workspace', own.workspaceId);
  assert.equal(again.stdout.match(/is unchanged\n {2}\? .*\n {2}\? /g)?.length, 2, again.stdout);
});

test('forms pull creates the folder; a plan reports a change on the service, and --check exits with 2 on any difference', async () => {
  const own = await service.makeTenant();
  const ask = (...args: string[]) => here(...args, '--workspace', own.workspaceId, '--json');
  const form = await makeForm(own, [element('text', 'a')]);
  const folder = join(await mkdtemp(join(service.dataDir, 'forms-')), 'new', 'forms');
  const missing = await ask('forms', 'plan', folder);
  assert.deepEqual([missing.code, messageIn(missing.stderr)], [2, `Folder not found: ${folder}.`]);
  const [{ file }] = answerOf(await ask('forms', 'pull', folder)).data;
  assert.deepEqual((await readdir(folder)).toSorted(), [file, 'formloom.lock.json'].toSorted());
  const plan = async (...more: string[]) => {
    const { code, stdout, stderr } = await ask('forms', 'plan', folder, ...more);
    const [line] = JSON.parse(stdout).data as { action: string; service_changed: boolean }[];
    return [code, line!.action, line!.service_changed, messageIn(stderr)];
  };
  assert.deepEqual(await plan('--check'), [0, 'none', false, '']);
  // A change only in the folder.
  const pulled = JSON.parse(await readFile(join(folder, file), 'utf8'));
  const rename = (label: string) => structure(element('text', 'a', { label }));
  await writeFile(join(folder, file), JSON.stringify({ ...pulled, structure: rename('Folder') }));
  assert.deepEqual(await plan('--check'), [2, 'update', false, '1 form would change.']);
  // A change by another person on the service.
  await own.call('PUT', `/forms/${form.id}`, { structure: rename('Service') });
  assert.deepEqual(await plan(), [0, 'update', true, '']);
  const { stdout } = await here('forms', 'plan', folder, '--workspace', own.workspaceId);
  assert.match(stdout, /Changed on the service since the last pull\. Applying reverts that change/);
  // Applying makes the folder's state the base of the next plan, as pulling does.
  answerOf(await ask('forms', 'apply', folder));
  assert.deepEqual(await plan('--check'), [0, 'none', false, '']);
  await own.call('PUT', `/forms/${form.id}`, { structure: rename('Service') });
  answerOf(await ask('forms', 'pull', folder));
  assert.deepEqual(await plan('--check'), [0, 'none', false, '']);
  await writeFile(join(folder, 'formloom.lock.json'), '{"forms": ');
  assert.match(messageIn((await ask('forms', 'plan', folder)).stderr), /formloom.lock.json is damaged/);
});

test('after forms apply a plan is empty, however the file spells its settings', async () => {
  const own = await service.makeTenant();
  const folder = await mkdtemp(join(service.dataDir, 'forms-'));
  const settings = {
    opens_at: '2030-01-01T01:00:00+01:00',
    theme: { mode: 'dark', logo: null },
    closed_message: null,
    password: 'a long password',
  };
  await writeFile(
    join(folder, 'a.json'),
    JSON.stringify({ structure: structure(element('text', 'a')), settings }),
  );
  answerOf(await here('forms', 'apply', folder, '--workspace', own.workspaceId, '--json'));
  const { code, stdout } = await here('forms', 'plan', folder, '--workspace', own.workspaceId, '--check');
  assert.equal(code, 0, stdout);
});

// Completion --------------------------------------------------------------------------------------------------

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

for (const shell of shells)
  test(`the completion of ${shell} is a script that ${shell} accepts`, {
    skip: !isInstalled(shell),
  }, async () => {
    const script = join(service.dataDir, `completion.${shell}`);
    await writeFile(script, completionScript(shell, commands));
    const { status, stderr } = spawnSync(shell, ['-n', script], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
  });

test('bash completes every command, its options, their values and file names', {
  skip: isSlice,
}, async () => {
  const { stdout: script } = await here('completion', 'bash');
  const path = join(service.dataDir, 'complete.bash');
  await writeFile(path, script);
  /** Returns what bash suggests for each input. One process handles all of them. */
  const completeAll = (beginnings: readonly (readonly string[])[]): string[][] => {
    const runs = beginnings.map(
      (words) =>
        `COMP_WORDS=(formloom ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; COMPREPLY=(); _formloom; printf '%s\\n' "\${COMPREPLY[@]}" --end--`,
    );
    const script = join(service.dataDir, 'completions.bash');
    writeFileSync(script, [`source "${path}"`, ...runs].join('\n'));
    return execFileSync('bash', [script], { encoding: 'utf8', cwd: service.dataDir })
      .split('--end--\n')
      .slice(0, -1)
      .map((found) => found.split('\n').slice(0, -1));
  };
  const complete = (...words: string[]): string[] => completeAll([words])[0]!;
  const groups = Map.groupBy(commands, ({ name }) => name.split(' ')[0]!);
  const firsts = completeAll([...groups.keys()].map((first) => [first.slice(0, -1)]));
  const seconds = completeAll([...groups.keys()].map((first) => [first, '']));
  for (const [index, [first, group]] of [...groups].entries()) {
    assert.ok(firsts[index]!.includes(first), first);
    for (const { name } of group)
      if (name !== first) assert.ok(seconds[index]!.includes(name.slice(first.length + 1)), name);
  }
  assert.deepEqual(complete('forms', 'list', '--sta'), ['--status']);
  assert.deepEqual(complete('forms', 'list', '--status', 'd'), ['draft']);
  assert.deepEqual(complete('--url', service.url, 'forms', 'cre'), ['create']);
  assert.deepEqual(complete('completion', 'z'), ['zsh']);
  await writeFile(join(service.dataDir, 'a form.json'), '{}');
  assert.deepEqual(complete('forms', 'create', '--body-file', 'a f'), ['a form.json']);
});
