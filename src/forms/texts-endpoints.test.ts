import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReplyOf } from '#app/operations/operations.ts';
import { element, structure } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { makeForm } from '#test/visitor.ts';

const service = await shareService();
const tenant = await service.makeTenant();

const question = element('radio', 'colour', { label: 'Colour', options: ['Red', 'Blue'] });
const translated = {
  ...structure(question),
  attrs: { name: 'Contact', languages: ['en', 'de'], translations: { de: { name: 'Kontakt' } } },
};
const settings = { confirmation_message: 'Thank you.' };
const make = async (): Promise<string> =>
  (await tenant.call('POST', '/forms', { structure: translated, settings, publish: true })).body.id;
type Reply = ReplyOf<'listFormTexts'> & ReplyOf<'importFormTexts'> & { errors: unknown };
const call = async (method: string, path: string, body?: object, headers = {}) => {
  const answer = await tenant.call(method, path, body, headers);
  return { status: answer.status, body: answer.body as unknown as Reply };
};
const textsOf = (id: string) => call('GET', `/forms/${id}/texts`);
const importInto = (id: string, text: string, headers = {}) =>
  call('POST', `/forms/${id}/texts/import`, { text }, headers);

test('the texts of a working copy can be exported, translated and imported, and visitors see the translations after publishing', async () => {
  const id = await make();
  const { body } = await textsOf(id);
  assert.deepEqual([body.languages, body.missing, body.texts.length], [['en', 'de'], { de: 5 }, 6]);
  assert.deepEqual(body.texts[0], { key: '$form/name', text: 'Contact', translations: { de: 'Kontakt' } });
  const file = await fetch(`${service.url}/api/v1/forms/${id}/texts/export`, {
    headers: { Authorization: `Bearer ${tenant.key}` },
  });
  assert.match(file.headers.get('content-disposition')!, /Contact texts\.csv/);
  const lines = (await file.text()).trim().split('\r\n');
  assert.equal(lines[0], 'key,en,de');
  const german = ['', '', 'Eins', 'Farbe', 'Rot', 'Blau', 'Danke.'];
  const filled = lines.map((line, index) => (index < 2 ? line : `${line}${german[index]}`)).join('\r\n');
  const { status, body: imported } = await importInto(id, filled);
  assert.deepEqual([status, imported.changed, imported.outdated, imported.missing], [200, 5, [], { de: 0 }]);
  assert.deepEqual((await tenant.call('POST', `/forms/${id}/publish`)).status, 200);
  const page = await (await fetch(`${service.url}/f/${id}?_lang=de`)).text();
  for (const word of ['Kontakt', 'Farbe', 'Rot', 'Blau']) assert.ok(page.includes(word), word);
});

test('an invalid file changes nothing and the error names its lines; a file for an outdated working copy changes nothing', async () => {
  const id = await make();
  const before = (await call('GET', `/forms/${id}/draft`)).body;
  const refused = await importInto(id, 'key,de,fr\ncolour/label,Farbe,Couleur\n');
  assert.deepEqual(
    [refused.status, refused.body.errors],
    [
      422,
      [
        {
          field: 'text',
          message: 'Line 1: Unknown column "fr". Use one of these: "key", "en", "de".',
          code: 'invalid',
        },
      ],
    ],
  );
  const file = 'key,de\ncolour/label,Farbe\n';
  assert.equal((await importInto(id, file, { 'If-Match': before.etag })).status, 200);
  const other = 'key,de\ncolour/label,Farbton\n';
  assert.equal((await importInto(id, other, { 'If-Match': before.etag })).status, 412);
  assert.deepEqual((await textsOf(id)).body.missing, { de: 4 });
  const plain = await makeForm(tenant, [question]);
  assert.deepEqual((await textsOf(plain.id)).body.languages, []);
});
