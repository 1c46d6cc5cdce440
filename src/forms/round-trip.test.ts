import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type ElementType, elementDefinitions } from '#ast/form/elements.ts';
import { element } from '#test/ast/forms.ts';
import { cases } from '#test/cases.ts';
import { type Body, shareService } from '#test/service.ts';

const service = await shareService();
const tenant = await service.makeTenant();

const structure = (name: string, attrs: object = {}) => ({
  type: 'form',
  attrs: { name, ...attrs },
  children: [{ type: 'step', attrs: { title: 'One' }, children: [element('text', 'subject')] }],
});
const create = async (name: string, more: object = {}): Promise<Body> =>
  (await tenant.call('POST', '/forms', { structure: structure(name), ...more })).body;
const get = async (id: string): Promise<Body> => (await tenant.call('GET', `/forms/${id}`)).body;

// An image must be uploaded first; images/ has a test for it.
const types = (Object.keys(elementDefinitions) as ElementType[]).filter(
  (type) => type !== 'image' && type !== 'picture_choice',
);

/** Optional attributes that most elements have, each absent, null or set. */
const more = fc.record(
  {
    help_text: fc.constantFrom(null, 'Help {{subject}}'),
    placeholder: fc.constantFrom(null, 'Type here'),
    required: fc.constantFrom(null, true, false),
    col_span: fc.constantFrom(null, 1, 2, 12),
    show_when: fc.constantFrom(null, { element: 'subject', is: 'answered' }),
    translations: fc.constantFrom(null, { de: { label: 'Frage' } }),
    future_attribute: fc.constantFrom(null, { kept: [1, null, 'x'] }),
  },
  { requiredKeys: [] },
);
/** Only elements with a label have translations of it. */
const withTexts = (
  type: ElementType,
  { translations, ...attrs }: Record<string, unknown>,
): Record<string, unknown> =>
  translations !== undefined && 'label' in elementDefinitions[type].attrs
    ? { ...attrs, translations }
    : attrs;
const settings = fc.record(
  {
    access: fc.constantFrom('public', 'invited', 'closed'),
    confirmation_message: fc.constant('Thanks, {{subject}}'),
    notification_email: fc.constant('team@example.org'),
    confirmations: fc.constant([{ when: { element: 'subject', is: 'answered' }, message: 'Hello' }]),
    notifications: fc.constant([{ to: 'other@example.org' }]),
    theme: fc.constant({ color: '#336699', mode: 'light', submit_label: 'Send', short_reference: true }),
    translations: fc.constant({ de: { confirmation_message: 'Danke' } }),
    opens_at: fc.constantFrom('2026-01-31T15:30:00+01:00'),
    editing: fc.boolean(),
    max_submissions: fc.constant(100),
    locale: fc.constant('en'),
    time_zone: fc.constant('Europe/Berlin'),
    subject_element: fc.constant('subject'),
    embed_origins: fc.constant(['https://example.org']),
  },
  { requiredKeys: ['confirmation_message'] },
);
const wholeForm = fc.record({
  attrs: fc.array(more, { minLength: types.length, maxLength: types.length }),
  settings,
  publish: fc.boolean(),
  description: fc.constantFrom(undefined, null, '', 'About it'),
});

test('PUT with the result of GET returns 200 and changes nothing, for every element type, settings, theme and translations', async () => {
  await fc.assert(
    fc.asyncProperty(wholeForm, async ({ attrs, settings, publish, description }) => {
      const nodes = types.map((type, index) => ({
        ...element(type, `e${index}`, withTexts(type, attrs[index]!)),
        ...(type === 'composite' && { children: [element('text', `inside${index}`)] }),
      }));
      const sent = {
        type: 'form',
        attrs: { name: 'Whole', languages: ['en', 'de'], ...(description !== undefined && { description }) },
        children: [
          {
            type: 'step',
            attrs: { title: 'One', description: null },
            children: [element('text', 'subject'), ...nodes],
          },
        ],
      };
      const created = await tenant.call('POST', '/forms', { structure: sent, settings, publish });
      assert.equal(created.status, 201, JSON.stringify(created.body));
      const before = await get(created.body.id);
      const put = await tenant.call('PUT', `/forms/${before.id}`, before);
      assert.equal(put.status, 200, JSON.stringify(put.body));
      const { updated_at: _, ...kept } = before;
      const { updated_at: later, ...after } = put.body;
      assert.deepEqual(after, kept);
      assert.deepEqual(await get(before.id), { ...kept, updated_at: later });
    }),
    { numRuns: cases(80) },
  );
});

test('POST and PUT accept the results of create, list and get; a copy is a new draft with the same structure', async () => {
  const created = await create('Copied', { publish: true, settings: { editing: true } });
  const { data } = (await tenant.call('GET', '/forms?per_page=1')).body;
  const overview = (await tenant.call('GET', '/forms/overview?per_page=1')).body;
  for (const body of [
    created,
    await get(created.id),
    { ...data[0], structure: created.structure },
    { ...overview.data[0], structure: created.structure },
  ]) {
    assert.equal((await tenant.call('PUT', `/forms/${created.id}`, body)).status, 200);
    const copy = await tenant.call('POST', '/forms', body);
    assert.equal(copy.status, 201, JSON.stringify(copy.body));
    assert.notEqual(copy.body.id, created.id);
    assert.equal(copy.body.status, 'draft');
    assert.deepEqual(copy.body.structure, created.structure);
  }
});

test("PUT with another form's id, workspace, name or description returns 422 and names each field", async () => {
  const created = await get((await create('Mine')).id);
  const wrong = {
    id: '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1',
    workspace_id: '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1',
    name: 'Another',
    description: 'Another',
  };
  const { status, body } = await tenant.call('PUT', `/forms/${created.id}`, { ...created, ...wrong });
  assert.equal(status, 422);
  assert.deepEqual(
    body.errors.map(({ field, code }) => [field, code]),
    Object.keys(wrong).map((field) => [field, 'mismatch']),
  );
  assert.equal((await get(created.id)).updated_at, created.updated_at);
  const unknown = await tenant.call('PUT', `/forms/${created.id}`, { ...created, colour: 'red' });
  assert.deepEqual([unknown.status, unknown.body.errors[0]!.code], [422, 'unknown_field']);
});

test('PUT with `publish: true` publishes a form of any status; `publish: false` keeps the status', async () => {
  const draft = await get((await create('Later')).id);
  const published = await tenant.call('PUT', `/forms/${draft.id}`, { ...draft, publish: true });
  assert.deepEqual([published.status, published.body.status], [200, 'published']);
  assert.ok(published.body.published_at);
  const again = await tenant.call('PUT', `/forms/${draft.id}`, {
    structure: draft.structure,
    publish: false,
  });
  assert.equal(again.body.status, 'published');
});
