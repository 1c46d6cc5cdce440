import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element, stepsOf } from '#test/ast/forms.ts';
import { openPaper, type Paper, publishForm, submissionOf } from '#test/paper.ts';
import { shareService, until } from '#test/service.ts';
import { openVisitor } from '#test/visitor.ts';

/** Multilingual forms: what their pages show, and what is stored. */

const service = await shareService();
const tenant = await service.makeTenant();
const visitor = openVisitor(service);

const into = (de: object, ar: object = {}) => ({
  translations: { de, ...(Object.keys(ar).length > 0 && { ar }) },
});
const parts = stepsOf(
  { title: 'You', ...into({ title: 'Sie' }) },
  [
    element('text', 'name', {
      label: 'Your name',
      required: true,
      ...into({ label: 'Ihr Name' }, { label: 'اسمك' }),
    }),
    element('radio', 'colour', {
      label: 'Colour',
      options: ['Red', { id: 'blue', label: 'Blue' }],
      ...into({ label: 'Farbe', options: { Red: 'Rot', blue: 'Blau' } }),
    }),
  ],
  { title: 'End', ...into({ title: 'Schluss' }) },
  [element('textarea', 'notes', { label: 'Notes for {{name}}', ...into({ label: 'Notizen für {{name}}' }) })],
);
const structure = {
  ...parts,
  attrs: { name: 'Contact', languages: ['en', 'de', 'ar'], ...into({ name: 'Kontakt' }) },
};
const settings = {
  confirmation_message: 'Thank you, {{name}}.',
  theme: { submit_label: 'Send it' },
  translations: { de: { confirmation_message: 'Danke, {{name}}.', 'theme.submit_label': 'Abschicken' } },
};

const htmlOf = ({ tags }: Paper) => tags.find(({ tag }) => tag === 'html')!.attrs;
const labelsOf = ({ tags }: Paper): string[] =>
  tags.filter(({ tag }) => tag === 'label' || tag === 'legend').map(({ text }) => text.trim());
const buttonsOf = ({ tags }: Paper): string[] =>
  tags.filter(({ tag, attrs }) => tag === 'button' && attrs['class'] === 'submit').map(({ text }) => text);
const read = (path: string, accepted: string) =>
  visitor.fetch(path, { headers: { 'Accept-Language': accepted } });

test("a page is in the browser's language, unless the URL chooses another, and otherwise in the form's first language", async () => {
  const form = await publishForm(tenant, structure, settings);
  for (const [query, accepted, lang, name] of [
    ['', 'de-AT,en;q=0.5', 'de', 'Ihr Name'],
    ['', 'fr,ar;q=0.9', 'ar', 'اسمك'],
    ['', 'fr', 'en', 'Your name'],
    ['?_lang=de', 'ar', 'de', 'Ihr Name'],
    ['?_lang=fr', 'ar', 'ar', 'اسمك'],
  ] as const) {
    const { text } = await read(`/f/${form}${query}`, accepted);
    assert.match(text, new RegExp(`<html lang="${lang}" dir="${lang === 'ar' ? 'rtl' : 'ltr'}"`));
    assert.ok(text.includes(name), `${lang}: ${name}`);
  }
  const german = await openPaper(service, `/f/${form}?_lang=de`);
  assert.deepEqual([german.title, german.headings], ['Kontakt (Schritt 1 von 2)', ['Sie']]);
  assert.deepEqual(labelsOf(german).slice(0, 4), ['Ihr Name (erforderlich)', 'Farbe', 'Rot', 'Blau']);
  assert.doesNotMatch(
    (await visitor.fetch(`/f/${form}?_lang=de`)).text,
    /Your name|translations|اسمك/,
    'the page carries one language',
  );
});

test("the page language setting takes precedence over the browser's, if the form is available in it", async () => {
  const form = await publishForm(tenant, structure, { ...settings, locale: 'de' });
  assert.match((await read(`/f/${form}`, 'ar')).text, /<html lang="de"/);
  const french = await publishForm(tenant, structure, { locale: 'fr' });
  assert.match((await read(`/f/${french}`, 'ar')).text, /<html lang="ar"/);
});

test('in a language without built-in translations, the page shows the author’s texts with built-in texts in another language', async () => {
  const italian = { ...parts, attrs: { name: 'Contact', languages: ['en', 'it'] } };
  const { text } = await read(
    `/f/${await publishForm(tenant, { ...italian, children: [{ type: 'step', attrs: {}, children: [element('text', 'a', { label: 'Name', translations: { it: { label: 'Nome' } } })] }] })}`,
    'it',
  );
  assert.match(text, /<html lang="it"/);
  assert.match(text, />Nome</);
  assert.match(text, />Submit</);
});

test('without a script, switching the language keeps the answers and the step, and later pages use the new language', async () => {
  const form = await publishForm(tenant, structure, {
    ...settings,
    editing: true,
    receipt_email_element: undefined,
  });
  const first = await openPaper(service, `/f/${form}?ref=mail`);
  const switched = first.tags.filter(
    ({ attrs }) => attrs['name'] === '_go' && attrs['formaction'] !== undefined,
  );
  assert.deepEqual(
    switched.map(({ text, attrs }) => [text, attrs['lang'], attrs['aria-current']]),
    [
      ['English', 'en', 'true'],
      ['Deutsch', 'de', undefined],
      ['العربية', 'ar', undefined],
    ],
  );
  const second = await first.press('next', { name: 'Ada', colour: 'blue' });
  const german = await second.press('language:de', { notes: 'Half' });
  assert.deepEqual(
    [german.status, htmlOf(german)['lang'], german.headings, german.values('notes'), german.values('name')],
    [200, 'de', ['Schluss'], ['Half'], ['Ada']],
  );
  assert.equal(german.tags.find(({ tag }) => tag === 'summary')?.attrs['autofocus'], '');
  assert.deepEqual(buttonsOf(german), ['Abschicken']);
  const refused = await (await german.press('back')).press('next', { name: '' });
  assert.deepEqual(
    [refused.status, refused.problems.at(-1)],
    [422, 'Geben Sie Ihren vollständigen Namen ein'],
  );
  const sent = await (await refused.press('next', { name: 'Ada' })).press('submit');
  const submission = await submissionOf(tenant, sent);
  assert.deepEqual(submission.answers, { name: 'Ada', colour: 'blue', notes: 'Half' });
  assert.deepEqual(
    [submission.metadata.language, submission.metadata.reference, submission.metadata.fields.name!.label],
    ['de', { ref: 'mail' }, 'Your name'],
  );
  const thanks = await openPaper(service, sent.location!);
  assert.equal(htmlOf(thanks)['lang'], 'de');
  assert.ok(thanks.tags.some(({ text }) => text.startsWith('Danke,')));
  const link = thanks.tags.find(({ attrs }) => attrs['href']?.includes('/edit/'))!.attrs['href']!;
  const edit = await openPaper(service, link.replace(/\?.*/, ''));
  assert.equal(htmlOf(edit)['lang'], 'de', 'it is changed in the language in which it was answered');
  const english = await edit.press('language:en');
  assert.deepEqual([htmlOf(english)['lang'], english.values('name')], ['en', ['Ada']]);
});

test('saved answers are resumed in the language in which they were saved', async () => {
  const form = await publishForm(tenant, structure, { save_progress: true });
  const saved = await (await openPaper(service, `/f/${form}?_lang=de`)).press('save', { name: 'Ada' });
  const [link] = saved.tags.flatMap(({ attrs }) =>
    attrs['href']?.includes('/resume/') ? [attrs['href']] : [],
  );
  const path = new URL(link!).pathname;
  const again = await openPaper(service, path);
  assert.deepEqual([htmlOf(again)['lang'], again.values('name')], ['de', ['Ada']]);
  assert.equal(htmlOf(await openPaper(service, `${path}?_lang=ar`))['lang'], 'ar');
});

test('a closed form says so in the language of the visitor, with a link to each other language', async () => {
  const form = await publishForm(tenant, structure, {
    access: 'closed',
    closed_message: 'See you next year.',
    translations: { de: { closed_message: 'Bis nächstes Jahr.' } },
  });
  const { text, status } = await read(`/f/${form}?ref=a`, 'de');
  assert.equal(status, 410);
  assert.match(text, /Bis nächstes Jahr\./);
  assert.match(text, new RegExp(`href="/f/${form}\\?ref=a&amp;_lang=ar"`));
});

test('answers given in German are found by German words, even if the search language of the form is English', async () => {
  const form = await publishForm(tenant, structure, settings);
  const answers = { name: 'Ada', notes: 'Zwei Häuser', colour: 'Red' };
  const page = await visitor.submit(form, answers, '?_lang=de');
  assert.equal(page.status, 201);
  const { body } = await tenant.call('POST', `/forms/${form}/submissions`, { answers, language: 'de' });
  assert.equal(body.metadata.language, 'de');
  const found = async (q: string): Promise<number> =>
    (await tenant.call('GET', `/submissions/search?form_id=${form}&q=${encodeURIComponent(q)}`)).body
      .pagination.total_count;
  await until('both are found', async () => (await found('Haus')) === 2);
  assert.equal(await found('rot'), 2, 'by the label that was read');
  const refused = await tenant.call('POST', `/forms/${form}/submissions`, { answers, language: 'fr' });
  assert.deepEqual(
    [refused.status, refused.body.errors],
    [
      422,
      [{ field: 'language', message: 'The form is available in "en", "de", "ar".', code: 'invalid_choice' }],
    ],
  );
  const plain = await publishForm(tenant, stepsOf({}, [element('text', 'name')]));
  const without = await tenant.call('POST', `/forms/${plain}/submissions`, { answers: { name: 'A' } });
  assert.equal('language' in without.body.metadata, false);
});

test('columns, summaries and exports use the reader’s language for questions and options, whatever language was answered', async () => {
  const form = await publishForm(tenant, structure, settings);
  for (const lang of ['en', 'de', 'ar'])
    await visitor.submit(form, { name: lang, colour: 'Red' }, `?_lang=${lang}`);
  const ask = async (path: string): Promise<string> => {
    const headers = { Authorization: `Bearer ${tenant.key}` };
    return (await fetch(`${service.url}/api/v1/forms/${form}/${path}`, { headers })).text();
  };
  const german = await ask('submissions/export?format=csv&language=de-AT');
  assert.match(german, /,Ihr Name,Farbe,Notizen für \[Ihr Name\],/);
  assert.equal(german.split(',Rot,').length, 4, 'all three chose the same');
  assert.match(await ask('submissions/export?format=csv'), /,Your name,Colour,/);
  assert.match(await ask('columns?language=de'), /"label":"Farbe"/);
  assert.match(await ask('summary?language=de'), /"Rot"/);
  assert.doesNotMatch(await ask('summary?language=fr'), /"Rot"/);
});
