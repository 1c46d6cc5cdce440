import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addLink, type SelectedText, toggleMark } from './marked-text.ts';

/** `a [b] c` is a text in which `b` is selected. */
function read(written: string): SelectedText {
  const [before = '', selected = '', after = ''] = written.split(/[⟦⟧]/);
  return { text: before + selected + after, start: before.length, end: before.length + selected.length };
}
const write = ({ text, start, end }: SelectedText): string =>
  `${text.slice(0, start)}⟦${text.slice(start, end)}⟧${text.slice(end)}`;

for (const [what, name, from, to] of [
  ['is added', 'bold', 'a ⟦b⟧ c', 'a **⟦b⟧** c'],
  ['is removed', 'bold', 'a **⟦b⟧** c', 'a ⟦b⟧ c'],
  ['is added without spaces', 'italic', 'a⟦ b ⟧c', 'a *⟦b⟧* c'],
  ['is added to another one', 'italic', '**⟦b⟧**', '***⟦b⟧***'],
  ['is added to another one', 'bold', '*⟦b⟧*', '***⟦b⟧***'],
  ['is removed from both', 'italic', '***⟦b⟧***', '**⟦b⟧**'],
  ['is removed from both', 'bold', '***⟦b⟧***', '*⟦b⟧*'],
  ['is added with an example', 'italic', 'a ⟦⟧', 'a *⟦italic text⟧*'],
] as const) {
  test(`the mark ${name} ${what}: ${from}`, () => {
    assert.equal(write(toggleMark(read(from), name)), to);
  });
}

for (const [from, to] of [
  ['see ⟦here⟧.', 'see [here](https://⟦⟧).'],
  ['⟦⟧', '[link text](https://⟦⟧)'],
  ['⟦https://a.example/b⟧', '[⟦⟧](https://a.example/b)'],
] as const) {
  test(`a link is added: ${from}`, () => assert.equal(write(addLink(read(from))), to));
}
