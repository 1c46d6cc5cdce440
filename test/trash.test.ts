import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadStatements } from './load-statements.ts';

/*
 * What lies in the trash exists for the trash alone (docs/decisions/0017). A column has no structure that would hold
 * this, so every statement that reads submissions says what it does about it.
 */

const statements = await loadStatements();

/** Those that are right to see everything, or come to submissions by ids that were found with the trash left out. */
const exempt: Readonly<Record<string, string>> = {
  search_submissions: 'by search_documents, which the trash has none of',
  search_question: 'by search_documents',
  search_view: 'by search_documents',
  search_view_of_words: 'by search_documents',
  search_neighbours: 'by search_documents',
  search_view_ids: 'by search_documents',
  'cli.find_place_in_submissions': 'says only which workspace an id is of, to what is done with it there',
  find_by_key: 'a submit that is repeated is the same one, wherever it lies',
  find_held_files: "the visitor's own unfinished submission, by its key",
  'bulk.lock_undone':
    'also what is taken out of the trash again; what tags or a status come back to is looked at by who gives them',
  'submissions.lock_oldest': 'a deleted form takes its trash with it',
  'submissions.lock_submissions': 'removes for good, whatever is asked of it',
  'erase.count_belongings': 'by ids that were locked to be erased, wherever they lie',
  'erase.strip_submission': 'by ids that were locked to be erased, wherever they lie',
  'people.look_in_events': 'asks only whether the submission is gone for good',
  'submissions.update_submission': 'after lock_submission',
};

/** An invitation stays answered while its answer lies in the trash: nobody is reminded of what they did. */
const exemptRoom = 'invitations.';

test('every statement that reads or changes submissions leaves the trash out, or says why not', () => {
  const silent = statements.filter(
    ({ name, text }) =>
      /\b(from|join|update) submissions\b/.test(text) &&
      !/trashed_at/.test(text) &&
      !Object.hasOwn(exempt, name) &&
      !name.startsWith(exemptRoom),
  );
  assert.deepEqual(
    silent.map(({ name }) => name),
    [],
  );
});

test('no exemption is for a statement that is gone', () => {
  const names = new Set(statements.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(exempt).filter((name) => !names.has(name)),
    [],
  );
});
