import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Form } from '#ast/form/tree.ts';
import { element, structure } from '#test/ast/forms.ts';
import type { EventKind, Snapshot } from './event.ts';
import { type BodyFormat, formatBody } from './format-body.ts';
import { templateProblems } from './template.ts';

const form = structure(
  element('text', 'name', { label: 'Full name' }),
  element('number', 'age', { label: 'Age' }),
  element('radio', 'size', { label: 'Size', options: [{ id: 's', label: 'Small & light' }] }),
  element('file_upload', 'cv', { label: 'CV' }),
) as Form;
const hostile = '<!channel> @everyone *bold* [x](https://evil.test) `code` {{age}}';
const responses = { name: hostile, age: 36, size: 's' };
const chat = 'https://api.telegram.org/bot1:a/sendMessage?chat_id=-100';

const snapshotOf = (answers: object): Snapshot => ({
  form: { id: 'f', name: 'Tea & <cake>', workspace_id: 'w' },
  submission: {
    id: 's',
    submitted_at: '2026-01-02T03:04:05.000Z',
    status: 'completed',
    reference_data: { utm: 'mail' },
    responses: answers as Snapshot['submission']['responses'],
    file_uploads: { cv: [{ id: 'a', filename: 'cv.pdf', size: 3, content_type: 'application/pdf' }] },
  },
});

const render = (
  how: Partial<BodyFormat>,
  { kind = 'submission.created', answers = responses }: { kind?: EventKind; answers?: object } = {},
) =>
  JSON.parse(
    formatBody(
      {
        kind,
        occurredAt: new Date(0),
        deliveryId: 'd',
        snapshot: JSON.stringify(snapshotOf(answers)),
        signLink: ({ id }) => `https://files.test/${id}`,
      },
      {
        format: 'slack',
        template: null,
        url: chat,
        isTest: false,
        form,
        publicUrl: 'https://forms.test',
        ...how,
      },
    ),
  );

const link = 'https://forms.test/app/forms/f/submissions?open=s';

test('Slack gets a text and blocks, in which answers are plain text without mentions', () => {
  const body = render({});
  assert.equal(body.text, 'New submission: Tea &amp; &lt;cake&gt;');
  const [header, name, age, size, cv, linked] = body.blocks;
  assert.deepEqual(header.text, { type: 'plain_text', text: body.text, emoji: false });
  assert.deepEqual(
    name.fields.map(({ type }: { type: string }) => type),
    ['plain_text', 'plain_text'],
  );
  assert.equal(name.fields[1].text, hostile.replace('<!channel>', '&lt;!channel&gt;'));
  const texts = [age, size, cv].map(({ fields }) =>
    fields.map(({ text }: { text: string }) => text).join(': '),
  );
  assert.deepEqual(texts, ['Age: 36', 'Size: Small &amp; light', 'CV: cv.pdf']);
  assert.equal(linked.text.text, `<${link}|View submission>`);
});

test('Discord gets escaped Markdown and allows no mentions', () => {
  const body = render({ format: 'discord' });
  assert.deepEqual(body.allowed_mentions, { parse: [] });
  assert.equal(body.content, 'New submission\\: Tea & \\<cake\\>');
  const [{ description }] = body.embeds;
  assert.match(
    description,
    /^\*\*Full name\*\*\n\\<!channel\\> @everyone \\\*bold\\\* \\\[x\\\]\(https\\:\/\/evil\.test\) \\`code\\`/,
  );
  assert.ok(description.endsWith(`[View submission](${link})`));
});

test('Teams gets an Adaptive Card, in which answers are text runs without Markdown', () => {
  const [attachment] = render({ format: 'teams' }).attachments;
  assert.equal(attachment.contentType, 'application/vnd.microsoft.card.adaptive');
  const { type, body, actions } = attachment.content;
  assert.equal(type, 'AdaptiveCard');
  assert.deepEqual(body[1].inlines[1], { type: 'TextRun', text: hostile });
  assert.deepEqual(actions, [{ type: 'Action.OpenUrl', title: 'View submission', url: link }]);
});

test('Telegram gets the chat of the URL and a text without markup, with the answers quoted', () => {
  const { chat_id, text, entities, parse_mode } = render({ format: 'telegram' });
  assert.deepEqual([chat_id, parse_mode], ['-100', undefined]);
  const [{ type, offset, length }] = entities;
  assert.equal(type, 'pre');
  assert.equal(
    text.slice(offset, offset + length),
    `Full name: ${hostile}\nAge: 36\nSize: Small & light\nCV: cv.pdf`,
  );
});

test('messages stay within the limits of their service, and the link says how many answers are missing', () => {
  const questions = Array.from({ length: 120 }, (_, index) =>
    element('text', `q${index}`, { label: 'L'.repeat(400) }),
  );
  const answers = Object.fromEntries(
    questions.map(({ attrs }) => [attrs!['id'] as string, '<😀*'.repeat(10_000)]),
  );
  const many = { form: structure(...questions) as Form };
  const slack = render(many, { answers });
  assert.ok(slack.blocks.length <= 50);
  assert.ok(
    slack.blocks
      .slice(1, -1)
      .every((block: { fields: { text: string }[] }) =>
        block.fields.every(({ text }) => text.length <= 2_000),
      ),
  );
  assert.match(slack.blocks.at(-1).text.text, /\(\d+ more answers\)>$/);
  const { embeds } = render({ ...many, format: 'discord' }, { answers });
  assert.ok(embeds[0].description.length <= 4_096);
  const telegram = render({ ...many, format: 'telegram' }, { answers });
  assert.ok(telegram.text.length <= 4_096);
  assert.ok(JSON.stringify(telegram).isWellFormed());
  assert.ok(Buffer.byteLength(JSON.stringify(render({ ...many, format: 'teams' }, { answers }))) < 28_000);
});

test('a deleted submission has no answers and no link, and a test says that it is one', () => {
  for (const format of ['slack', 'discord', 'teams', 'telegram'] as const) {
    const text = JSON.stringify(render({ format, isTest: true }, { kind: 'submission.deleted' }));
    assert.match(text, /Test\\*: Submission deleted/);
    assert.doesNotMatch(text, /Full name|forms\.test|everyone/);
  }
});

test('a placeholder that is a whole text becomes the JSON value; other placeholders become text', () => {
  const template = {
    form: '{{form_name}}',
    age: '{{age}}',
    line: 'Age: {{ age }}, size: {{size}}, {{cv}}',
    size: '{{size}}',
    cv: '{{cv}}',
    all: '{{answers}}',
    url: '{{submission_url}}',
    nested: [
      { event: '{{event}}' },
      '{{submission.responses}}',
      '{{submission.reference_data.utm}}',
      1,
      null,
    ],
    none: ['{{submission.reference_data.none}}', '[{{submission.reference_data.none}}]'],
  };
  const body = render({ format: 'template', template });
  assert.equal(body.form, 'Tea & <cake>');
  assert.deepEqual([body.age, body.line], [36, 'Age: 36, size: Small & light, cv.pdf']);
  assert.equal(body.size, 's');
  assert.equal(body.cv[0].url, 'https://files.test/a');
  assert.equal(body.all, `Full name: ${hostile}\nAge: 36\nSize: Small & light\nCV: cv.pdf`);
  assert.equal(body.url, link);
  assert.deepEqual(body.nested, [{ event: 'submission.created' }, responses, 'mail', 1, null]);
  assert.deepEqual(body.none, [null, '[]']);
  // JSON text is a template as well.
  assert.deepEqual(render({ format: 'template', template: JSON.stringify(template) }), body);
  const deleted = render({ format: 'template', template }, { kind: 'submission.deleted' });
  assert.deepEqual([deleted.all, deleted.age, deleted.url, deleted.line], ['', null, '', 'Age: , size: , ']);
});

test('a template that repeats a large answer stays within a limit', () => {
  const template = Array.from({ length: 100 }, (_, index) => (index % 2 ? '{{name}}' : 'a {{name}}'));
  const body = render({ format: 'template', template }, { answers: { name: 'x'.repeat(60_000) } });
  assert.ok(JSON.stringify(body).length < 1_100_000);
  assert.deepEqual(body.slice(-2), ['a …', null]);
});

test('a template is checked: JSON, size, depth, placeholders in values only, and each name, with its location', () => {
  const ids = new Set(['name', 'toString']);
  const find = (template: unknown) =>
    templateProblems(template, ids).map(({ field, code }) => `${field} ${code}`);
  assert.deepEqual(
    find({ a: ['{{name}} {{toString}} {{event}} {{form.name}} {{submission.responses.name}}'] }),
    [],
  );
  assert.deepEqual(find({ a: [{ b: '{{nam}} {{}}' }] }), [
    'template.a.0.b invalid_reference',
    'template.a.0.b invalid_reference',
  ]);
  for (const name of [
    'form.nope',
    'constructor',
    'submission.responses.nope',
    'submission.responses.name.x',
    'event.x',
  ])
    assert.deepEqual(find([`{{${name}}}`]), ['template.0 invalid_reference'], name);
  for (const text of ['{{name', '{{ name }', '{{na{me}}'])
    assert.deepEqual(find([text]), ['template.0 invalid_reference'], text);
  assert.deepEqual(find(['{ {name} {{{name}}} }}']), []);
  for (const text of ['{', '"{{name}}"', '1', 'null', ''])
    assert.deepEqual(find(text), ['template invalid_format'], text);
  assert.deepEqual(find({ a: 'x'.repeat(17_000) }), ['template too_long']);
  assert.deepEqual(find('['.repeat(5_000) + ']'.repeat(5_000)), ['template not_storable']);
  assert.deepEqual(find({ '{{name}}': 1 }), ['template not_allowed']);
  assert.deepEqual(find(['{{name}}'.repeat(101)]), ['template too_many']);
  assert.deepEqual(find({ a: '\u0000' }), ['template not_storable']);
});

test('without a form, an id of a question is unknown, and a path of an answer is allowed', () => {
  assert.deepEqual(templateProblems(['{{submission.responses.any}}'], undefined), []);
  assert.match(templateProblems(['{{name}}'], undefined)[0]!.message, /submission\.responses\.email/);
});
