import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { home, sentencesOf, sourcesOf } from './sentences.ts';

/*
 * Every string that a person can read is in test/strings, one file for each room, so that reviews show
 * changed sentences. REWRITE=1 npm test -- test/strings.test.ts updates the files.
 */
const directory = `${home}test/strings`;
const rooms = ['src', 'web'].flatMap((root) =>
  readdirSync(home + root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${root}/${name}`),
);
const listOf = (room: string): string[] => {
  const texts = sentencesOf(sourcesOf(room)).filter(({ kind }) => kind === 'text');
  return [...new Set(texts.map(({ text }) => text))].toSorted();
};
const fileOf = (room: string): string => `${room.replace('/', '-')}.txt`;

test('the strings of every room match test/strings', () => {
  const lists = rooms
    .map((room) => [fileOf(room), listOf(room)] as const)
    .filter(([, list]) => list.length > 0);
  if (process.env['REWRITE']) {
    for (const file of readdirSync(directory)) rmSync(`${directory}/${file}`);
    for (const [file, list] of lists) writeFileSync(`${directory}/${file}`, `${list.join('\n')}\n`);
  }
  assert.deepEqual(readdirSync(directory).toSorted(), lists.map(([file]) => file).toSorted());
  for (const [file, list] of lists)
    assert.deepEqual(readFileSync(`${directory}/${file}`, 'utf8').trimEnd().split('\n'), list, file);
});
