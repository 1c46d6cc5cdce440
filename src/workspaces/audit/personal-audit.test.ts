import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditedChangesBetween } from './account-actions.ts';

test('unchanged and automatically changing values are not recorded, but a setting named like one is', () => {
  const before = { name: 'A', day: 1, settings: { day: 1 } };
  assert.equal(auditedChangesBetween(before, { ...before, day: 2 }), undefined);
  assert.deepEqual(auditedChangesBetween(before, { ...before, settings: { day: 2 } }), {
    'settings.day': { from: 1, to: 2 },
  });
});

test('settings are compared three names deep', () => {
  const deep = (value: number) => ({ settings: { theme: { cover: { height: value } } } });
  assert.deepEqual(auditedChangesBetween(deep(1), deep(2)), {
    'settings.theme.cover': { from: { height: 1 }, to: { height: 2 } },
  });
});

test('a long text is recorded only as changed, and a URL only up to its path', () => {
  const [short, long] = ['a'.repeat(300), 'b'.repeat(301)];
  assert.deepEqual(auditedChangesBetween({ message: short }, { message: long }), {
    message: { from: short, to: '…' },
  });
  const at = (url: string) => ({ url });
  assert.deepEqual(
    auditedChangesBetween(at('https://me:pass@one.test/in?key=1'), at('https://one.test/in')),
    {
      url: { from: 'https://one.test/in?…', to: 'https://one.test/in' },
    },
  );
});
