import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { renderNotice } from '../render/notices.ts';
import { getPageStyle, type PageStyle, plainPageStyle } from '../theme/page-style.ts';
import { headersForStyle, plainPageHeaders } from './problem-page.ts';

/** Returns the value of a directive of the policy. */
const directive = (policy: string, name: string): string =>
  policy
    .split('; ')
    .find((part) => part.startsWith(`${name} `))!
    .slice(name.length + 1);

const themed = { theme: { color: '#7a1f8a', font: 'inter' } } as const;
const occasions: Readonly<Record<string, PageStyle>> = {
  'without a theme': plainPageStyle,
  'of a theme': getPageStyle('1', themed, { isEmbedded: false, language: 'en' }),
};
for (const [what, look] of Object.entries(occasions)) {
  test(`the policy of a page ${what} allows its style sheets by hash, and files of its origin`, () => {
    const page = renderNotice({ title: 'Closed', message: 'Come back later.', language: 'en', look });
    const styles = [...page.matchAll(/<style>([^<]*)<\/style>/g)].map(([, style]) => style!);
    const hashes = styles.map((style) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    const policy = headersForStyle(look)['Content-Security-Policy'];
    assert.equal(directive(policy, 'style-src'), hashes.join(' '));
    assert.equal(directive(policy, 'default-src'), "'none'");
    for (const name of ['script-src', 'connect-src', 'font-src'])
      assert.equal(directive(policy, name), "'self'");
    assert.equal(directive(policy, 'img-src'), "'self' blob: data:", 'pictures that the visitor chose, too');
    assert.doesNotMatch(policy, /unsafe-|nonce/);
  });
}

const framings: readonly (readonly [what: string, look: PageStyle, ancestors: string])[] = [
  ['a page that was not asked for as an embedded one', plainPageStyle, "'none'"],
  ['an embedded page', getPageStyle('1', {}, { isEmbedded: true, language: 'en' }), '*'],
  [
    'an embedded page of a form that names origins',
    getPageStyle(
      '1',
      { embed_origins: ['https://a.example', 'https://*.b.example'] },
      { isEmbedded: true, language: 'en' },
    ),
    'https://a.example https://*.b.example',
  ],
  [
    'an embedded page of a form that names none',
    getPageStyle('1', { embed_origins: [] }, { isEmbedded: true, language: 'en' }),
    "'none'",
  ],
  [
    'the plain page of a form that names origins',
    getPageStyle(
      '1',
      { ...themed, embed_origins: ['https://a.example'] },
      { isEmbedded: false, language: 'en' },
    ),
    "'none'",
  ],
];
for (const [what, look, ancestors] of framings) {
  test(`${what} may be framed by: ${ancestors}`, () => {
    assert.equal(directive(headersForStyle(look)['Content-Security-Policy'], 'frame-ancestors'), ancestors);
  });
}

test('a page is not cached or sniffed, sends no referrer, and is isolated from its opener', () => {
  assert.equal(plainPageHeaders['Cache-Control'], 'no-store');
  assert.equal(plainPageHeaders['X-Content-Type-Options'], 'nosniff');
  assert.equal(plainPageHeaders['Referrer-Policy'], 'no-referrer');
  assert.equal(plainPageHeaders['Cross-Origin-Opener-Policy'], 'same-origin');
});
