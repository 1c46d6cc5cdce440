import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fontNames } from '#ast/theme/theme.ts';
import { themeStyle } from './page-style.ts';

test('a form without a theme, or with an empty one, has no theme styles', () => {
  assert.equal(themeStyle(undefined), '');
  assert.equal(themeStyle({}), '');
  assert.equal(themeStyle({ font: 'system' }), '');
});

test('a compressed theme is at most 2 KB', () => {
  for (const font of fontNames) {
    const style = themeStyle({
      font,
      color: '#7a1f8a',
      background: '#fff4e0',
      corner: 'round',
      density: 'airy',
    });
    assert.ok(gzipSync(style).length < 2_048, `${font}: ${gzipSync(style).length}`);
  }
});

test('a theme with one color scheme ignores the visitor’s system preference', () => {
  for (const mode of ['light', 'dark'] as const) {
    const style = themeStyle({ mode });
    assert.match(style, new RegExp(`color-scheme:${mode};`));
    assert.doesNotMatch(style, /prefers-color-scheme/);
  }
});

test('a theme with both color schemes has a palette for each', () => {
  const style = themeStyle({ color: '#7a1f8a' });
  assert.match(style, /^:root\{.*--accent:#7a1f8a;/);
  assert.match(style, /@media \(prefers-color-scheme:dark\)\{:root\{.*--accent:#(?!7a1f8a)/);
});
