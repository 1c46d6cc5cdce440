import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readMarkup } from '#test/page/read-page.ts';
import { attributes, html, htmlToString, renderJson, safeUrl } from './html.ts';

test('text cannot escape its context: in content and in a quoted attribute it reads back unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, title) => {
      const [read] = readMarkup(htmlToString(html`<p title="${title}">${text}</p>`));
      assert.deepEqual(read, { tag: 'p', attrs: { title }, text });
    }),
  );
});

test('text is escaped, markup is kept, lists are written line by line, and empty values write nothing', () => {
  const cases: [ReturnType<typeof html>, string][] = [
    [html`${'<b>&"\''}`, '&lt;b&gt;&amp;&quot;&#39;'],
    [html`${html`<b>${1}</b>`}`, '<b>1</b>'],
    [html`${[html`<i>a</i>`, ['b', 'c']]}`, '<i>a</i>\nb\nc'],
    [html`${undefined}${null}${false}${''}${[]}`, ''],
    [html`${0}`, '0'],
  ];
  for (const [part, expected] of cases) assert.equal(htmlToString(part), expected);
});

test('an object that only looks like markup is not markup', () => {
  const forged = JSON.parse('{"markup":"<script>","Symbol(markup)":"<script>"}') as ReturnType<typeof html>;
  assert.throws(() => html`${forged}`);
});

test('the attribute value true writes the bare name, undefined and false omit the attribute, and other values are escaped', () => {
  const written = attributes({ id: 'a"b', checked: true, required: false, title: undefined, rows: 4 });
  assert.equal(htmlToString(written), ' id="a&quot;b" checked rows="4"');
});

test('a URL that could run code is replaced', () => {
  const cases: [string, string][] = [
    ['/f/1?a=b&c=d', '/f/1?a=b&c=d'],
    ['https://example.com/', 'https://example.com/'],
    ['mailto:a@example.com', 'mailto:a@example.com'],
    ['javascript:alert(1)', '#'],
    [' JaVaScRiPt:alert(1)', '#'],
    ['java\nscript:alert(1)', '#'],
    ['data:text/html,<script>', '#'],
    ['vbscript:x', '#'],
    ['http://[', '#'],
  ];
  for (const [address, expected] of cases) assert.equal(safeUrl(address), expected, JSON.stringify(address));
});

test('JSON in a page cannot end its script or open a comment, and reads back unchanged', () => {
  const value = { text: '</script><script>alert(1)</script><!--', more: ['<', '\u2028', '&amp;'] };
  const written = htmlToString(renderJson(value));
  assert.ok(!written.includes('<'));
  assert.deepEqual(JSON.parse(written), value);
});
