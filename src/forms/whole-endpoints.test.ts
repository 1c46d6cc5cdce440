import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Static } from 'typebox';
import { composite, element, structure } from '#test/ast/forms.ts';
import { isSlice } from '#test/cases.ts';
import { signIn } from '#test/console.ts';
import { samples } from '#test/fixtures/foreign-forms.ts';
import { callApi, shareService, until } from '#test/service.ts';
import { createKey } from '#workspaces/keys.ts';
import type * as shapes from './shapes.ts';

const service = await shareService();

type List = Static<typeof shapes.FormsOverview>;
type ExportedForm = Static<typeof shapes.ExportedForm>;

/** Opens a separate workspace, so that tests do not see each other's forms. */
async function openWorkspace() {
  const editor = await signIn(service, { role: 'editor' });
  return {
    editor,
    create: async (name: string, settings?: object): Promise<string> =>
      (
        await editor.api<{ id: string }>('POST', '/forms', {
          structure: named(name),
          ...(settings && { settings }),
        })
      ).body.id,
    names: async (query: string): Promise<string[]> =>
      (await editor.api<List>('GET', `/forms/overview${query}`)).body.data.map(({ name }) => name),
    /** Reads the name and the count that the form's screens show in their heading. */
    located: async (id: string) =>
      (await editor.call<{ name: string; submission_count: number }>('GET', `/forms/${id}/locate`)).body,
  };
}

const named = (name: string) => ({
  ...structure(element('text', 'subject')),
  attrs: { name, description: 'About' },
});

const publish = (id: string) =>
  service.services.database.query(
    "update forms set status = 'published', published_at = now() where id = $1",
    [id],
  );

async function submit(id: string, subject: string): Promise<void> {
  const answer = await fetch(`${service.url}/f/${id}`, {
    method: 'POST',
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    body: JSON.stringify({ answers: { subject } }),
  });
  assert.equal(answer.status, 201);
}

test('the list shows the name, status, submissions and last activity of each form', async () => {
  const { editor, create } = await openWorkspace();
  const quiet = await create('Quiet');
  const busy = await create('Busy');
  await publish(busy);
  await submit(busy, 'one');
  await submit(busy, 'two');
  const { data, pagination } = (await editor.api<List>('GET', '/forms/overview')).body;
  assert.equal(pagination.total_count, 2);
  assert.deepEqual(
    data.map(({ id, name, status, submission_count }) => [id, name, status, submission_count]),
    [
      [busy, 'Busy', 'published', 2],
      [quiet, 'Quiet', 'draft', 0],
    ],
  );
  assert.ok(data[0]!.last_submission_at);
  assert.equal(data[0]!.last_activity_at >= data[0]!.last_submission_at, true);
  assert.equal(data[1]!.last_submission_at, null);
  assert.equal(data[1]!.last_activity_at, data[1]!.updated_at);
  assert.equal(data[0]!.description, 'About');
});

test('the list can be searched by part of a name, filtered by status, and sorted', async () => {
  const { create, names } = await openWorkspace();
  await create('banana');
  const apple = await create('Apple 100%');
  const cherry = await create('Cherry');
  await publish(apple);
  await submit(apple, 'x');
  await publish(cherry);
  assert.deepEqual(await names('?sort=name'), ['Apple 100%', 'banana', 'Cherry']);
  assert.deepEqual(await names('?sort=created'), ['Cherry', 'Apple 100%', 'banana']);
  assert.deepEqual((await names('?sort=submissions'))[0], 'Apple 100%');
  assert.deepEqual((await names('?sort=activity'))[0], 'Apple 100%');
  assert.deepEqual(await names('?q=AN'), ['banana']);
  assert.deepEqual(await names('?q=%25'), ['Apple 100%'], 'a percent sign is itself');
  assert.deepEqual(await names('?q=_'), []);
  assert.deepEqual(await names('?status=published&sort=name'), ['Apple 100%', 'Cherry']);
  assert.deepEqual(await names('?status=draft'), ['banana']);
  assert.deepEqual(await names('?sort=name&per_page=1&page=2'), ['banana']);
  assert.deepEqual(await names('?page=9'), []);
});

test('invalid parameters of the list return 400', async () => {
  const { editor } = await openWorkspace();
  for (const query of ['?page=0', '?per_page=101', '?status=open', '?sort=size', `?q=${'x'.repeat(201)}`]) {
    assert.equal((await editor.api('GET', `/forms/overview${query}`)).status, 400, query);
  }
});

test('a form can be created from a structure and settings; errors give the location of the problem', async () => {
  const { editor, create } = await openWorkspace();
  const id = await create('Made', { confirmation_message: 'Thanks' });
  const exported = (await editor.api<ExportedForm>('GET', `/forms/${id}/export`)).body;
  assert.deepEqual(exported, { structure: named('Made'), settings: { confirmation_message: 'Thanks' } });
  assert.deepEqual((await editor.api<{ id: string }>('POST', '/forms', exported)).status, 201);

  const twice = structure(element('text', 'a'), element('text', 'a'));
  const answer = await editor.api('POST', '/forms', { structure: twice });
  assert.equal(answer.status, 422);
  assert.deepEqual(
    answer.body.errors.map(({ path }) => path),
    [[0, 1]],
  );
  assert.equal(
    (await editor.api('POST', '/forms', { structure: named('X'), settings: { colour: 'red' } })).status,
    422,
  );
});

test('a duplicate is a draft with a new name and the same settings, but no submissions', async () => {
  const { editor, create, names } = await openWorkspace();
  const id = await create('Original', { confirmation_message: 'Thanks' });
  await publish(id);
  await submit(id, 'x');
  const copy = await editor.api<{ id: string }>('POST', `/forms/${id}/duplicate`);
  assert.equal(copy.status, 201);
  const exported = (await editor.api<ExportedForm>('GET', `/forms/${copy.body.id}/export`)).body;
  assert.deepEqual(exported, {
    structure: named('Original (copy)'),
    settings: { confirmation_message: 'Thanks' },
  });
  assert.deepEqual(await names('?status=draft'), ['Original (copy)']);
  assert.equal(
    (await editor.api<{ submission_count: number }>('GET', `/forms/${copy.body.id}`)).body.submission_count,
    0,
  );
  assert.equal((await editor.api('POST', `/forms/${randomUUID()}/duplicate`)).status, 404);
});

test('a duplicate includes the working copy, and a name of maximum length is shortened for the suffix', async () => {
  const { editor, create, names } = await openWorkspace();
  const id = await create('é'.repeat(512));
  const edited = { ...named('Edited'), children: [] };
  await service.services.database.query(
    `insert into form_drafts (workspace_id, form_id, structure, settings, revision, base_version, saved_at)
     values ($1, $2, $3, '{}', 1, 1, now())`,
    [editor.workspaceId, id, JSON.stringify(edited)],
  );
  const copy = (await editor.api<{ id: string }>('POST', `/forms/${id}/duplicate`)).body.id;
  assert.ok((await names('')).includes('Edited (copy)'));
  const { rows } = await service.services.database.query<{ structure: object; name: string }>(
    'select d.structure, f.name from form_drafts d join forms f on f.id = d.form_id where d.form_id = $1',
    [copy],
  );
  assert.equal(rows[0]!.name, `${'é'.repeat(508)} (copy)`);
  assert.deepEqual(rows[0]!.structure, { ...edited, attrs: { ...edited.attrs, name: 'Edited (copy)' } });
});

test('an unpublished form is listed, found, headed and exported with its working copy', async () => {
  const { editor, create, names, located } = await openWorkspace();
  const id = await create('Untitled form');
  const settings = { confirmation_message: 'Thanks' };
  const save = (sent: object) =>
    editor.api('PUT', `/forms/${id}/draft`, { structure: sent, settings, base_version: 1 });
  const exported = async () => (await editor.api<ExportedForm>('GET', `/forms/${id}/export`)).body;
  const headed = async () => (await located(id)).name;
  await save(named('Garden party'));
  assert.deepEqual(await names('?q=garden'), ['Garden party']);
  assert.deepEqual(await names('?q=untitled'), []);
  assert.equal(await headed(), 'Garden party');
  assert.deepEqual(await exported(), { structure: named('Garden party'), settings });
  await editor.api('POST', `/forms/${id}/archive`);
  assert.deepEqual([await headed(), (await exported()).settings], ['Garden party', settings]);
  await editor.api('POST', `/forms/${id}/restore`);
  await save({ type: 'form', attrs: { name: ' ' }, children: [] });
  assert.equal(await headed(), 'Untitled form', 'a name that was taken away leaves the last one');

  await save(named('Garden party'));
  await editor.api('POST', `/forms/${id}/publish`, { version: 1 });
  await save(named('Next party'));
  assert.deepEqual(await names(''), ['Garden party'], 'what visitors see has the name that they see');
  assert.deepEqual((await exported()).structure, named('Garden party'));
});

test('an archived form accepts no answers until it is restored as a draft', async () => {
  const { editor, create, names } = await openWorkspace();
  const id = await create('Old');
  await publish(id);
  assert.equal((await editor.api('POST', `/forms/${id}/archive`)).status, 200);
  assert.deepEqual(await names('?status=archived'), ['Old']);
  assert.equal((await fetch(`${service.url}/f/${id}`)).status, 410);
  assert.equal((await editor.api('POST', `/forms/${id}/restore`)).status, 200);
  assert.deepEqual(await names('?status=draft'), ['Old']);
  assert.equal((await editor.api('POST', `/forms/${randomUUID()}/archive`)).status, 404);
});

test('a deleted form disappears immediately, and its submissions follow', async () => {
  const { editor, create, names } = await openWorkspace();
  const id = await create('Doomed');
  await publish(id);
  await submit(id, 'x');
  assert.equal((await editor.api('DELETE', `/forms/${id}`)).status, 204);
  assert.deepEqual(await names(''), []);
  assert.equal((await editor.api('GET', `/forms/${id}`)).status, 404);
  assert.equal((await editor.api('DELETE', `/forms/${id}`)).status, 404);
  await until('the submissions to be removed', async () => {
    const { rows } = await service.services.database.query('select from submissions where form_id = $1', [
      id,
    ]);
    return rows.length === 0;
  });
});

test('a form of another workspace is not found', async () => {
  const [mine, other] = [await openWorkspace(), await openWorkspace()];
  const id = await other.create('Theirs');
  for (const [method, path] of [
    ['POST', 'duplicate'],
    ['POST', 'archive'],
    ['POST', 'restore'],
    ['GET', 'export'],
    ['DELETE', ''],
  ] as const) {
    const answer = await mine.editor.api(method, `/forms/${id}${path && `/${path}`}`);
    assert.equal(answer.status, 404, path);
  }
  assert.deepEqual(await other.names(''), ['Theirs']);
});

// Parts of a form ---------------------------------------------------------------------------------------------

test('a merge patch changes only the settings it names, including those of the theme; null removes a setting', async () => {
  const { editor, create } = await openWorkspace();
  const id = await create('Patched', {
    confirmation_message: 'Thanks',
    theme: { color: '#6d28d9', corner: 'round' },
  });
  const patch = (body: object, headers: Record<string, string> = {}) =>
    editor.api<Static<typeof shapes.ChangedForm>>('PATCH', `/forms/${id}`, body, headers);
  const { status, body, headers } = await patch(
    { settings: { confirmation_message: null, theme: { corner: null, font: 'inter' }, edit_days: 3 } },
    { 'Content-Type': 'application/merge-patch+json' },
  );
  assert.deepEqual(
    [status, body.settings],
    [200, { access: 'public', theme: { color: '#6d28d9', font: 'inter' }, edit_days: 3 }],
  );
  assert.deepEqual(body.structure, named('Patched'));
  // With `If-Match`, one of two parallel patches gets 412. Without it, parallel patches of different settings
  // are both kept.
  const tag = { 'If-Match': headers.get('etag')! };
  const both = await Promise.all([
    patch({ settings: { edit_days: 4 } }, tag),
    patch({ settings: { edit_days: 5 } }, tag),
  ]);
  assert.deepEqual(both.map((answer) => answer.status).sort(), [200, 412]);
  await Promise.all([
    patch({ settings: { language: 'german' } }),
    patch({ settings: { editing: true }, status: 'published' }),
  ]);
  const { settings, status: now } = (
    await editor.api<Static<typeof shapes.FormDetail>>('GET', `/forms/${id}`)
  ).body;
  const { language, editing } = settings as { language?: string; editing?: boolean };
  assert.deepEqual([language, editing, now], ['german', true, 'published']);
  const refused = await editor.api('PATCH', `/forms/${id}`, {
    settings: { closes_at: 'tomorrow' },
    status: 'archived',
  });
  assert.deepEqual([refused.status, refused.body.errors.map(({ field }) => field)], [422, ['closes_at']]);
  assert.equal((await editor.api('GET', `/forms/${id}`)).body['status'], 'published');
});

test('settings.access is always present, and can be written back as it was read', async () => {
  const { editor, create } = await openWorkspace();
  const id = await create('Read');
  const { structure: tree, settings } = (
    await editor.api<Static<typeof shapes.FormDetail>>('GET', `/forms/${id}`)
  ).body;
  assert.deepEqual(settings, { access: 'public' });
  const put = await editor.api<Static<typeof shapes.FormDetail>>('PUT', `/forms/${id}`, {
    structure: tree,
    settings,
  });
  assert.deepEqual([put.status, put.body.settings], [200, { access: 'public' }]);
  await editor.api('PATCH', `/forms/${id}`, { settings: { access: 'closed' } });
  assert.deepEqual((await editor.api('GET', `/forms/${id}`)).body['settings'], { access: 'closed' });
});

test('validation reports all problems together, warns about usability in a valid form, and creates nothing', async () => {
  const { editor, names } = await openWorkspace();
  const validate = async (body: object) =>
    (await editor.api<Static<typeof shapes.Judgement>>('POST', '/forms/validate', body)).body;
  const broken = await validate({
    structure: structure(element('text', 'a'), element('text', 'a')),
    settings: { edit_days: 0, theme: { cover: randomUUID() } },
  });
  assert.deepEqual(
    broken.problems.map(({ path, field }) => path ?? field),
    [[0, 1], 'edit_days'],
  );
  const missing = await validate({
    structure: named('A'),
    settings: { theme: { cover: randomUUID() } },
  });
  assert.deepEqual(
    missing.problems.map(({ field }) => field),
    ['theme.cover'],
  );
  const hard = structure(
    element('text', 'a', { label: 'Name', placeholder: 'name' }),
    element('text', 'b', { label: ' name ' }),
    element('text', 'c', { label: '***' }),
    element('text', 'd', { placeholder: 'As it stands in your passport, with all names' }),
    element('radio', 'e', { options: ['1', '2', '3', '4', '5', '6', '7', '8'] }),
    element('rating', 'f', { placeholder: 5 }),
  );
  const steps = [...hard.children!, { type: 'step', attrs: {}, children: [] }];
  const { problems, warnings } = await validate({ structure: { ...hard, children: steps } });
  assert.deepEqual(problems, []);
  assert.deepEqual(
    warnings.map(({ rule, path }) => [rule, path]),
    [
      ['untitled-step', [1]],
      ['placeholder-as-label', [0, 0]],
      ['repeated-label', [0, 1]],
      ['wordless-label', [0, 2]],
      ['placeholder-as-help', [0, 3]],
      ['many-buttons', [0, 4]],
    ],
  );
  assert.deepEqual(await validate({ structure: named('B') }), { problems: [], warnings: [] });
  assert.deepEqual(await names(''), []);
});

test('validation warns about possibly misspelled names at every level and about empty composites, but not about valid names', async () => {
  const { editor } = await openWorkspace();
  const slips = {
    type: 'form',
    attrs: { name: 'A', desciption: 'x' },
    childern: [],
    children: [
      {
        type: 'step',
        attrs: { titel: 'One', 'x-titl': 1 },
        children: [
          element('text', 'a', {
            requird: true,
            helpText: 'x',
            'Place-Holder': 'x',
            tracking: 1,
            'data-label': 1,
          }),
          element('radio', 'b', { option: ['x'], options: [{ id: 'x', label: 'X', lable: 'Y', point: 1 }] }),
          composite('c', []),
          composite('d', [element('number', 'e', { Required: true, maximum: 3, mx: 1 })], {
            repeatable: true,
          }),
          { type: 'composite', attrs: { id: 'f', label: 'F', repeatable: true } },
          { type: 'composite', attrs: { id: 'g', label: 'G' }, children: null },
        ],
      },
    ],
  };
  type Found = Static<typeof shapes.Judgement>;
  const validate = async (structure: object): Promise<Found> => {
    const answer = await editor.api<Found>('POST', '/forms/validate', { structure });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const { problems, warnings } = await validate(slips);
  assert.deepEqual(problems, []);
  const named = warnings.filter(({ rule }) => /^(?:misspelt-attribute|empty-composite)$/.test(rule));
  assert.deepEqual(
    named.map(({ path, message }) => [path, ...(message.match(/"[^"]*"/g) ?? []).slice(-2)]),
    [
      [[], '"childern"', '"children"'],
      [[], '"desciption"', '"description"'],
      [[0], '"titel"', '"title"'],
      [[0, 0], '"requird"', '"required"'],
      [[0, 0], '"helpText"', '"help_text"'],
      [[0, 0], '"Place-Holder"', '"placeholder"'],
      [[0, 1], '"option"', '"options"'],
      [[0, 1], '"lable"', '"label"'],
      [[0, 1], '"point"', '"points"'],
      [[0, 2], '"c"'],
      [[0, 4], '"f"'],
      [[0, 5], '"g"'],
      [[0, 3, 0], '"Required"', '"required"'],
    ],
  );
  // A misspelled name can explain why another name is missing.
  const broken = await validate({
    ...slips,
    children: [
      { type: 'step', attrs: {}, children: [{ type: 'text', attrs: { id: 'a', lable: 'A' }, children: [] }] },
    ],
  });
  assert.equal(broken.problems.length, 1);
  assert.ok(broken.warnings.some(({ message }) => message.includes('"lable"')));
});

test('an exported form can be imported, also in another workspace, when it is incomplete or its images are missing', async () => {
  const [here, there] = [await openWorkspace(), await openWorkspace()];
  const id = await here.create('Travels', { editing: true });
  const exported = (await here.editor.api<ExportedForm>('GET', `/forms/${id}/export`)).body;
  type Imported = Static<typeof shapes.CreatedForm> & { left_out: string[] };
  const take = (body: object) => there.editor.api<Imported>('POST', '/forms/import', body);
  const again = await take(exported);
  assert.deepEqual(
    [again.status, again.body.status, again.body.structure, again.body.left_out],
    [201, 'draft', named('Travels'), []],
  );
  const theme = { logo: randomUUID(), color: '#6d28d9' };
  const pictured = await take({ ...exported, settings: { theme } });
  assert.deepEqual(pictured.body.left_out, ['theme.logo']);
  const shown = await there.editor.api('GET', `/forms/${pictured.body.id}`);
  assert.deepEqual(shown.body['settings'], { access: 'public', theme: { color: '#6d28d9' } });
  const half = { ...named('Half'), children: [] };
  const unfinished = await take({ structure: half, settings: { closes_at: 'tomor' } });
  const draft = await there.editor.api<ExportedForm>('GET', `/forms/${unfinished.body.id}/export`);
  assert.deepEqual(
    [unfinished.status, unfinished.body.name, draft.body],
    [201, 'Half', { structure: half, settings: { closes_at: 'tomor' } }],
  );
  const nameless = await take({ structure: { type: 'form', attrs: { name: 7 } } });
  assert.deepEqual([nameless.status, nameless.body.name], [201, 'Untitled form']);
});

test('a key that is limited to certain forms lists those forms and creates none', async () => {
  const tenant = await service.makeTenant();
  const make = async (name: string) =>
    (await tenant.call('POST', '/forms', { structure: named(name) })).body.id;
  const [mine] = [await make('Mine'), await make('Other')];
  const { key } = await createKey(service.services.database, {
    workspaceId: tenant.workspaceId,
    name: 'Limited',
    formIds: [mine],
  });
  const ask = (method: string, path: string, body?: object) => callApi(service.url, key, method, path, body);
  const { data, pagination } = (await ask('GET', '/forms/overview')).body;
  assert.deepEqual([data.map(({ name }) => name), pagination.total_count], [['Mine'], 1]);
  assert.equal((await ask('GET', `/forms/${mine}/draft`)).status, 200);
  assert.equal((await ask('POST', `/forms/${mine}/duplicate`)).status, 403);
  assert.equal((await ask('POST', '/forms/import', { structure: named('New') })).status, 403);
});

test('a form of another service is previewed, and the same document then creates it', async () => {
  const { editor } = await openWorkspace();
  const document = samples.typeform;
  const before = await editor.api<List>('GET', '/forms/overview');
  const { status, body } = await editor.api<Static<typeof shapes.ConvertedForm>>('POST', '/forms/convert', {
    document,
  });
  assert.deepEqual([status, body.source, body.problems], [200, 'typeform', []]);
  assert.equal(body.report.length, body.report_count);
  assert.ok(body.report.some(({ path, outcome }) => path === 'fields[7]' && outcome === 'left_out'));
  assert.deepEqual(
    (await editor.api<List>('GET', '/forms/overview')).body.pagination.total_count,
    before.body.pagination.total_count,
    'it stores nothing',
  );
  const made = await editor.api<Static<typeof shapes.ImportedForm>>('POST', '/forms/import', { document });
  assert.deepEqual([made.status, made.body.status, made.body.name], [201, 'draft', 'Weaving course']);
  assert.deepEqual(made.body.structure, body.structure);
  assert.deepEqual(made.body.report, body.report);
});

test('plain text and CSV are previewed, and the same text then creates the form', async () => {
  const { editor } = await openWorkspace();
  const convert = (text: string, source?: string) =>
    editor.api<Static<typeof shapes.ConvertedForm>>('POST', '/forms/convert', { text, source });
  const { status, body } = await convert('# You\nEmail *\nSize\n- S\n- M\n???');
  assert.deepEqual([status, body.source, body.problems], [200, 'plain_text', []]);
  assert.deepEqual(
    body.report.flatMap(({ path, outcome }) => (outcome === 'left_out' ? [path] : [])),
    ['lines[5]'],
  );
  const text = 'Name,Email\nAda,ada@example.org';
  assert.deepEqual(
    [(await convert(text)).body.source, (await convert(text, 'plain_text')).body.source],
    ['csv', 'plain_text'],
  );
  const made = await editor.api<Static<typeof shapes.ImportedForm>>('POST', '/forms/import', { text });
  assert.deepEqual([made.status, made.body.status], [201, 'draft']);
  assert.deepEqual(made.body.structure, (await convert(text)).body.structure);
});

test('a long text is converted like a short one', async () => {
  const { editor } = await openWorkspace();
  const ask = (count: number, lines: string) =>
    editor.api<Static<typeof shapes.ConvertedForm>>('POST', '/forms/convert', { text: lines.repeat(count) });
  const [short, long] = [await ask(1, 'Name\nColour\n'), await ask(400, `${'Name '.repeat(10)}\nColour\n`)];
  assert.deepEqual(
    [short.body.source, long.body.source, long.body.problems],
    ['plain_text', 'plain_text', []],
  );
  assert.equal(long.body.report.filter(({ outcome }) => outcome === 'mapped').length, 800);
  assert.equal((await ask(2_000, 'Name,Email\n')).body.source, 'csv');
});

test('a long document is converted like a short one', async () => {
  const { editor } = await openWorkspace();
  const ask = (count: number) =>
    editor.api<Static<typeof shapes.ConvertedForm> & { errors: { field: string }[] }>(
      'POST',
      '/forms/convert',
      {
        document: {
          title: 'Long',
          fields: Array.from({ length: count }, (_, index) => ({
            ref: `field_${index}`,
            type: 'short_text',
            title: `Question ${index}`,
          })),
        },
      },
    );
  const [short, long] = [await ask(10), await ask(900)];
  assert.deepEqual([short.body.source, long.body.source, long.body.problems], ['typeform', 'typeform', []]);
  assert.deepEqual(long.body.report.slice(0, 5), short.body.report.slice(0, 5));
  assert.equal(long.body.report.filter(({ outcome }) => outcome === 'mapped').length, 900);
});

test('a form with too many options becomes a draft with that problem, unless its document exceeds the limits of a request', {
  skip: isSlice,
}, async () => {
  const { editor } = await openWorkspace();
  const options = Array.from({ length: 30 }, (_, index) => ({ value: `Option ${index}` }));
  const ask = (count: number) =>
    editor.api<Static<typeof shapes.ConvertedForm> & { message: string }>('POST', '/forms/convert', {
      document: {
        info: { title: 'Large' },
        items: Array.from({ length: count }, (_, index) => ({
          itemId: `i${index}`,
          title: `Question ${index}`,
          questionItem: { question: { choiceQuestion: { type: 'RADIO', options } } },
        })),
      },
    });
  const { status, body } = await ask(700);
  assert.deepEqual(
    [status, body.problems.map(({ message }) => message)],
    [200, ['A form can have at most 5000 options in total.']],
  );
  assert.equal(JSON.stringify(body.structure).match(/"Option 29"/g)!.length, 700);
  const larger = await ask(900);
  assert.deepEqual([larger.status, larger.body.message], [422, 'The JSON contains more than 30000 names.']);
});

test('an unknown format, or two formats in one request, is rejected with the field', async () => {
  const { editor } = await openWorkspace();
  const ask = async (path: string, sent: object) => {
    const { status, body } = await editor.api<{ errors: { field: string; message: string }[] }>(
      'POST',
      path,
      sent,
    );
    assert.doesNotMatch(body.errors[0]!.message, 'document' in sent ? /plain_text|csv/ : /typeform|tally/);
    return [status, body.errors.map(({ field }) => field)];
  };
  assert.deepEqual(await ask('/forms/convert', { document: { hello: 'world' } }), [422, ['document']]);
  assert.deepEqual(await ask('/forms/import', {}), [422, ['structure']]);
  const both = { document: samples.tally, structure: named('Two') };
  assert.deepEqual(await ask('/forms/import', both), [422, ['structure']]);
  assert.deepEqual(await ask('/forms/import', { text: 'Name', settings: {} }), [422, ['structure']]);
  assert.deepEqual(await ask('/forms/convert', {}), [422, ['document']]);
  assert.deepEqual(await ask('/forms/convert', { text: 'Name', source: 'tally' }), [422, ['source']]);
  for (const source of ['plain_text', 'csv'] as const) {
    const document = samples[source];
    assert.deepEqual(await ask('/forms/convert', { document, source }), [422, ['source']]);
    assert.deepEqual(await ask('/forms/import', { document }), [422, ['document']]);
  }
  assert.deepEqual(await ask('/forms/convert', { text: ' ' }), [422, ['text']]);
  assert.deepEqual(await ask('/forms/convert', { text: 'Name,"', source: 'csv' }), [422, ['text']]);
});
