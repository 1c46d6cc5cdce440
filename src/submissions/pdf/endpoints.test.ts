import assert from 'node:assert/strict';
import { test } from 'node:test';
import sharp from 'sharp';
import { extractText, getDocumentProxy } from 'unpdf';
import { composite, element } from '#test/ast/forms.ts';
import { shareService } from '#test/service.ts';
import { asJson, makeForm, openVisitor } from '#test/visitor.ts';
import { checkFontFiles } from './check-font-files.ts';

const service = await shareService();
const visitor = openVisitor(service);
const tenant = await service.makeTenant();

/** Downloads a PDF and returns its text. */
async function download(address: string, headers: Record<string, string> = {}) {
  // Links have the public address of the service.
  const { pathname, search } = new URL(address, service.url);
  const response = await fetch(`${service.url}${pathname}${search}`, { headers });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isPdf = response.headers.get('content-type') === 'application/pdf';
  const read = isPdf && (await extractText(await getDocumentProxy(bytes), { mergePages: true }));
  return {
    status: response.status,
    headers: response.headers,
    text: read ? read.text.replaceAll(/\s+/g, ' ') : '',
  };
}

const fromApi = (id: string, query = '', key = tenant.key) =>
  download(`/api/v1/submissions/${id}/pdf${query}`, { Authorization: `Bearer ${key}` });

const picture = await sharp({ create: { width: 80, height: 40, channels: 4, background: '#0b6655' } })
  .png()
  .toBuffer();

const form = await makeForm(
  tenant,
  [
    element('text', 'name', { label: 'Full name' }),
    element('yes_no', 'member', { label: 'Member' }),
    element('multiple_choice', 'colours', { label: 'Colours' }),
    element('matrix', 'likes', { label: 'Likes' }),
    element('number', 'amount', { label: 'Amount' }),
    element('hidden', 'campaign', { label: 'Campaign' }),
    element('file_upload', 'files', { label: 'Files', max_files: 5 }),
    element('signature', 'signed', { label: 'Signature' }),
    composite('guests', [element('text', 'guest', { label: 'Guest name' })], {
      label: 'Guests',
      repeatable: true,
    }),
  ],
  { settings: { offer_pdf: true, locale: 'en' } },
);

const answers: [string, string | File][] = [
  ['name', 'Ada Lovelace'],
  ['member', 'true'],
  ['colours', 'Red'],
  ['colours', 'Blue'],
  ['likes[Tea]', 'Green'],
  ['amount', '1234.5'],
  ['campaign', 'internal'],
  ['files', new File([new Uint8Array(picture)], 'logo.png', { type: 'image/png' })],
  ['files', new File(['\x89PNG\r\n\x1a\nbroken'], 'broken.png', { type: 'image/png' })],
  ['files', new File(['notes'], 'notes.txt', { type: 'text/plain' })],
  ['signed', 'Ada L.'],
  ['guests[0][guest]', 'Charles'],
];
const sent = await visitor.post(form.id, answers, asJson);
assert.equal(sent.status, 201, sent.text);
const { id, pdf_url: link } = sent.body as unknown as { id: string; pdf_url: string };

test('the API returns a submission as a PDF with its answers as people read them', async () => {
  const { status, headers, text } = await fromApi(id);
  assert.equal(status, 200);
  assert.match(
    headers.get('content-disposition') ?? '',
    /^attachment; filename="Contact [\dA-Z]{5}-[\dA-Z]{5}\.pdf"$/,
  );
  for (const part of [
    'Contact',
    'Received',
    'Full name',
    'Ada Lovelace',
    'Member Yes',
    'Red',
    'Blue',
    'Tea Green',
    '1,234.5',
    'Campaign internal',
    'logo.png',
    'broken.png',
    'notes.txt',
    'Ada L.',
    'Guests 1',
    'Charles',
    'Page 1 of',
  ])
    assert.ok(text.includes(part), `${part} in ${text}`);
  assert.ok(!text.includes(id) && !text.includes(form.id));
});

test('the PDF needs the permission to read submissions, and a submission of the workspace', async () => {
  const other = await service.makeTenant();
  assert.equal((await fromApi(id, '', other.key)).status, 404);
  assert.equal((await fromApi(id, '', 'wrong')).status, 401);
  assert.equal((await fromApi('00000000-0000-7000-8000-000000000000')).status, 404);
  assert.equal((await fromApi('no-id')).status, 400);
  assert.equal((await fromApi(id, '?size=A5')).status, 400);
  assert.equal((await fromApi(id, '?paper=A4')).status, 400);
  assert.equal((await fromApi(id, '?size=Letter&language=de')).status, 200);
});

test('the confirmation page links to the PDF, without hidden values, without JavaScript', async () => {
  const posted = await visitor.post(form.id, answers);
  const page = await visitor.fetch(posted.headers.get('location')!);
  const [, path] = /href="([^"]*\/pdf\/[^"]+)"/.exec(page.text) ?? [];
  for (const address of [path!, link]) {
    const { status, headers, text } = await download(address);
    assert.equal(status, 200);
    assert.equal(headers.get('cache-control'), 'private, no-store');
    assert.ok(text.includes('Ada Lovelace') && !text.includes('internal'), text);
  }
});

test('a changed link, a link to another form and a link to a deleted submission do not work', async () => {
  const other = await makeForm(tenant, [element('text', 'name')], { settings: { offer_pdf: true } });
  assert.equal((await download(link.replace(form.id, other.id))).status, 404);
  assert.equal(
    (await download(link.replace(/\.(.)(?=[^.]*$)/, (_, first) => (first === 'A' ? '.B' : '.A')))).status,
    404,
  );
  const [, expires] = /\.(\d{10})\./.exec(link)!;
  assert.equal((await download(link.replace(expires!, String(Number(expires) + 1)))).status, 404);
  const { body } = await visitor.post(form.id, answers.slice(0, 1), asJson);
  const own = (body as unknown as { pdf_url: string }).pdf_url;
  assert.equal((await download(own)).status, 200);
  assert.equal((await tenant.call('DELETE', `/submissions/${body.id}`)).status, 204);
  assert.equal((await download(own)).status, 404);
});

test('without offer_pdf, there is no link, and earlier links stop working', async () => {
  const plain = await makeForm(tenant, [element('text', 'name')], { settings: { offer_pdf: true } });
  const { body } = await visitor.submit(plain.id, { name: 'Ada' });
  const earlier = (body as unknown as { pdf_url: string }).pdf_url;
  assert.equal((await download(earlier)).status, 200);
  const changed = await tenant.call('PATCH', `/forms/${plain.id}`, { settings: { offer_pdf: false } });
  assert.equal(changed.status, 200);
  const { body: later } = await visitor.submit(plain.id, { name: 'Ada' });
  assert.ok(!('pdf_url' in later));
  assert.equal((await download(earlier)).status, 404);
});

test('PDFs of a workspace are rendered one after the other, and only a few wait', async () => {
  const replies = await Promise.all(Array.from({ length: 12 }, () => fromApi(id)));
  const statuses = replies.map(({ status }) => status).toSorted();
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 200), 429, 429]);
  assert.ok(replies.find(({ status }) => status === 429)?.headers.has('retry-after'));
  assert.equal((await fromApi(id)).status, 200);
});

test('questions and the texts of the PDF are in the requested language of the form', async () => {
  const name = element('text', 'name', { label: 'Name', translations: { de: { label: 'Voller Name' } } });
  const step = { type: 'step', children: [name] };
  const structure = { type: 'form', attrs: { name: 'Contact', languages: ['en', 'de'] }, children: [step] };
  const made = await tenant.call('POST', '/forms', { structure, publish: true });
  const { body } = await visitor.submit(made.body.id, { name: 'Ada' });
  assert.match(
    (await fromApi(body.id, '?language=de')).text,
    /Eingegangen am .* Voller Name Ada .*Seite 1 von 1/,
  );
  assert.match((await fromApi(body.id)).text, /Received .* Name Ada .*Page 1 of 1/);
});

test('a font file of the operator that cannot be read stops the start with a clear message', async () => {
  await assert.rejects(checkFontFiles(['package.json']), /"package.json", which cannot be read as a font/);
  await assert.rejects(checkFontFiles(['/missing.ttf']), /PDF_FONTS names "\/missing.ttf"/);
  await checkFontFiles([]);
});
