import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getDocumentProxy } from 'unpdf';
import type { PdfBlock, PdfDocument } from './document.ts';
import { renderPdf } from './render-pdf.ts';

const text = (content: string): PdfBlock => ({ kind: 'text', text: content });

/** Renders blocks and reads the PDF again: the text of each page, and the structure of the first page. */
async function read(blocks: readonly PdfBlock[], more: Partial<PdfDocument> = {}) {
  const bytes = await renderPdf(
    {
      language: 'en',
      size: 'A4',
      accent: '#0b6655',
      isCertificate: false,
      logo: undefined,
      title: 'Contact',
      subtitle: 'Received today',
      blocks,
      footer: 'Page {number} of {total}',
      ...more,
    },
    [],
  );
  const pdf = await getDocumentProxy(new Uint8Array(bytes));
  const pages: string[] = [];
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const { items } = await (await pdf.getPage(number)).getTextContent();
    pages.push(items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join(''));
  }
  const first = await pdf.getPage(1);
  return { pdf, pages, tree: JSON.stringify(await first.getStructTree()), view: first.view };
}

/** Ignores line breaks and spaces, which depend on the layout. */
const tight = (content: string): string => content.replaceAll(/\s/g, '');

test('text in Latin, Greek, Cyrillic, Hebrew, Arabic, Chinese and Japanese can be read from the PDF', async () => {
  const samples = [
    'Ada Lovelace – office',
    'Ελληνικά',
    'Русский текст',
    'שלום עולם',
    'مرحبا بكم في النموذج',
    '这是中文回答',
    'これは日本語の回答です',
  ];
  const { pages } = await read(samples.map(text));
  for (const sample of samples)
    assert.ok(tight(pages.join('')).includes(tight(sample)), `${sample} in ${pages[0]}`);
});

test('numbers in a right-to-left text keep their order', async () => {
  const { pages } = await read([text('رقم 123 ورقم ٤٥٦')], { language: 'ar' });
  assert.match(pages[0]!, /123/);
  assert.match(pages[0]!, /٤٥٦/);
});

test('the document is tagged, with its title and language', async () => {
  const { pdf, tree } = await read([
    { kind: 'question', level: 2, text: 'About you' },
    { kind: 'list', items: ['Tea', 'Coffee'] },
    { kind: 'table', rows: [['Price', 'Good']] },
  ]);
  const { info } = await pdf.getMetadata();
  assert.equal((info as { Title?: string }).Title, 'Contact');
  assert.equal((info as { Language?: string }).Language, 'en');
  assert.deepEqual(await pdf.getMarkInfo(), { Marked: true, UserProperties: false, Suspects: false });
  for (const role of ['H1', 'H2', 'LBody', 'TH', 'TD'])
    assert.ok(tree.includes(`"${role}"`), `${role} in ${tree}`);
});

test('a ranking has numbers', async () => {
  const { pages } = await read([{ kind: 'list', items: ['Tea', 'Coffee'], isNumbered: true }]);
  assert.match(pages[0]!, /1\. *Tea.*2\. *Coffee/s);
});

test('a long answer continues on further pages, and each page has its number', async () => {
  const words = Array.from({ length: 6_000 }, (_, index) => `word${index}`);
  const { pages } = await read([text(words.join(' '))], { size: 'Letter' });
  assert.ok(pages.length > 5);
  for (const [index, page] of pages.entries())
    assert.ok(page.includes(`Page ${index + 1} of ${pages.length}`));
  const all = pages.join(' ');
  assert.ok(words.every((word) => all.includes(word)));
});

test('the paper is A4 or Letter', async () => {
  assert.deepEqual((await read([])).view.slice(2).map(Math.round), [595, 842]);
  assert.deepEqual((await read([], { size: 'Letter' })).view.slice(2), [612, 792]);
});

test('a word without a break, control characters, emoji and unassigned characters are drawn', async () => {
  const { pages } = await read([
    text('x'.repeat(65_536)),
    text('a\u0000b\u0007c\td\u200ee\ud800 😀👨‍👩‍👧 \u{10ffff}\u0378 한'),
    text(`e${'\u0301'.repeat(5_000)}`),
    text(''),
    text('\n\n'),
  ]);
  assert.equal(pages.join('').match(/x/g)?.length, 65_536);
  assert.ok(/abc +de/.test(pages.at(-1)!), pages.at(-1)!.slice(-200));
  assert.ok(pages.at(-1)!.includes('😀'));
});

test('1,000 questions take less than 30 seconds', { timeout: 30_000 }, async () => {
  const { pages } = await read(
    Array.from({ length: 1_000 }, (_, index): PdfBlock[] => [
      { kind: 'question', level: 2, text: `Question ${index}` },
      text('An answer'),
    ]).flat(),
  );
  assert.ok(pages.at(-1)!.includes('Question 999'));
});
