import assert from 'node:assert/strict';
import { test } from 'node:test';
import { embedSnippet } from './links.ts';

const address = 'https://forms.example/f/0197a1b2-0000-7000-8000-000000000000';
const head =
  '<script src="https://forms.example/embed.js"\n  data-form="0197a1b2-0000-7000-8000-000000000000"';

test('the embed snippet is one script tag with the form', () => {
  assert.equal(embedSnippet(address, { parameters: [] }), `${head}></script>`);
});

test('parameters and button text become attributes, and markup in them is escaped', () => {
  const parameters = [
    { name: 'source', value: 'a & "b"' },
    { name: '_embed', value: '0' },
    { name: '', value: 'x' },
  ];
  assert.equal(
    embedSnippet(address, { parameters, popup: '<b>"Order"</b>' }),
    `${head}\n  data-prefill="source=a+%26+%22b%22"\n  data-popup="&lt;b&gt;&quot;Order&quot;&lt;/b&gt;"></script>`,
  );
});

test('a service under a path also has its script there', () => {
  assert.match(
    embedSnippet('https://example.com/forms/f/1', { parameters: [] }),
    /src="https:\/\/example\.com\/forms\/embed\.js"/,
  );
});
