import assert from 'node:assert/strict';
import { test } from 'node:test';
import { element } from '#test/ast/forms.ts';
import { byId, readMarkup, readPage } from '#test/page/read-page.ts';
import { cpuMsOf } from '#test/slowness.ts';
import { html, htmlToString } from './html.ts';
import { renderFormattedText, renderRichText } from './rich-text.ts';

const drawn = (text: string): string => htmlToString(renderRichText(text));
const link = (text: string, address: string): string =>
  `<a href="${address}" target="_blank" rel="noopener noreferrer">${text}</a>`;

const cases: Readonly<Record<string, [text: string, markup: string]>> = {
  'plain text': ['One\n\ntwo', '<p>One\n\ntwo</p>'],
  bold: ['a **b c** d', '<p>a <b>b c</b> d</p>'],
  'a link': [
    'See [our *terms*](https://a.example/b?c=1&d#e).',
    `<p>See ${link('our *terms*', 'https://a.example/b?c=1&amp;d#e')}.</p>`,
  ],
  'a mail address': ['[Write](mailto:a@b.example)', `<p>${link('Write', 'mailto:a@b.example')}</p>`],
  'a list': [
    'Bring:\n- a hat\n- **water**\n\nBye',
    '<div><p>Bring:</p>\n<ul><li>a hat</li>\n<li><b>water</b></li></ul>\n<p>Bye</p></div>',
  ],
  'a list with numbers': ['1. one\n2. two', '<div><ol><li>one</li>\n<li>two</li></ol></div>'],
};
for (const [what, [text, markup]] of Object.entries(cases)) {
  test(`${what} is rendered as the author intended`, () => assert.equal(drawn(text), markup));
}

const formatted = (text: string, top: 'h2' | 'h3' = 'h3'): string =>
  htmlToString(renderFormattedText(text, top, html``, (part) => html`${part}`));
const formattedCases: Readonly<Record<string, [text: string, markup: string]>> = {
  paragraphs: ['One\ntwo\n\nthree', '<p>One\ntwo</p>\n<p>three</p>'],
  'headings, of which no level is left out': [
    '## **Big**\nText\n### Small\n\n## Next',
    '<h3><b>Big</b></h3>\n<p>Text</p>\n<h4>Small</h4>\n<h3>Next</h3>',
  ],
  'italic words': ['a *b c* d, 2 * 3 * 4', '<p>a <i>b c</i> d, 2 * 3 * 4</p>'],
  'a list below a text, with links': [
    'Read:\n- *[x](https://a.example)*\n- [y](https://b.example)\n\n1. one',
    `<p>Read:</p>\n<ul><li><i>[x](https://a.example)</i></li>\n<li>${link('y', 'https://b.example')}</li></ul>\n<ol><li>one</li></ol>`,
  ],
  'markup that somebody wrote': [
    '# <b onclick="x">x</b>\n\n*<script>*',
    '<h3>&lt;b onclick=&quot;x&quot;&gt;x&lt;/b&gt;</h3>\n<p><i>&lt;script&gt;</i></p>',
  ],
};
for (const [what, [text, markup]] of Object.entries(formattedCases)) {
  test(`rich text supports ${what}`, () => assert.equal(formatted(text), `<div>${markup}</div>`));
}

test('headings of a rich text start one level below the title above it', () => {
  assert.equal(formatted('# One\n## Two', 'h2'), '<div><h2>One</h2>\n<h3>Two</h3></div>');
});

test('only https and mailto URLs become links, and no text becomes markup', () => {
  const hostile = [
    '[x](javascript:alert(1))',
    '[x](JAVASCRIPT:alert(1))',
    '[x](http://a.example)',
    '[x](//a.example)',
    '[x](data:text/html,y)',
    '[x](https://a.example" onclick="alert(1))',
    '**<script>alert(1)</script>**',
    '[<img src=x onerror=alert(1)>](https://a.example)',
    '- <b onclick=alert(1)>x</b>',
    '[a](https://b.example)[c](https://d.example/\'"><script>)',
  ];
  for (const text of hostile) {
    for (const { tag, attrs } of readMarkup(`<!doctype html>${drawn(text)}`)) {
      assert.ok(['p', 'div', 'ul', 'li', 'b', 'a'].includes(tag), `${tag} of ${text}`);
      assert.deepEqual(Object.keys(attrs), tag === 'a' ? ['href', 'target', 'rel'] : [], text);
      assert.match(attrs['href'] ?? 'https:', /^https:/, text);
    }
  }
});

test('a text full of unclosed formatting marks is parsed quickly', () => {
  for (const part of ['**', '[', '[a](', '[a](https://', '- ', '**a', '](']) {
    assert.ok(cpuMsOf(() => drawn(part.repeat(20_000))) < 500, part);
  }
});

test('help texts, paragraphs and descriptions support formatting; labels are plain text', () => {
  const page = readPage([
    element('text', 'a', { label: '**A**', help_text: 'Read [this](https://a.example)' }),
    element('paragraph', 'p', { label: 'Mind **this**' }),
  ]);
  assert.equal(page.find(({ tag }) => tag === 'label')?.text, '**A**');
  assert.equal(byId(page, 'help~a').text, 'Read this');
  assert.deepEqual(
    page.filter(({ tag }) => tag === 'b').map(({ text }) => text),
    ['this'],
  );
});
