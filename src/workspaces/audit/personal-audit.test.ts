import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween } from './personal-audit.ts';

test('what is as it was is no change, and neither is what goes by itself; a setting of such a name is one', () => {
  const before = { name: 'A', day: 1, settings: { day: 1 } };
  assert.equal(changesBetween(before, { ...before, day: 2 }), undefined);
  assert.deepEqual(changesBetween(before, { ...before, settings: { day: 2 } }), {
    'settings.day': { from: 1, to: 2 },
  });
});

test('settings are told apart three names deep', () => {
  const deep = (value: number) => ({ settings: { theme: { cover: { height: value } } } });
  assert.deepEqual(changesBetween(deep(1), deep(2)), {
    'settings.theme.cover': { from: { height: 1 }, to: { height: 2 } },
  });
});

test('a long text is said to have changed, and of an address nothing behind its path', () => {
  const [short, long] = ['a'.repeat(300), 'b'.repeat(301)];
  assert.deepEqual(changesBetween({ message: short }, { message: long }), {
    message: { from: short, to: '…' },
  });
  const at = (url: string) => ({ url });
  assert.deepEqual(changesBetween(at('https://me:pass@one.test/in?key=1'), at('https://one.test/in')), {
    url: { from: 'https://one.test/in?…', to: 'https://one.test/in' },
  });
});
