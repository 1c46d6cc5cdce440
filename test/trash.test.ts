import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadStatements } from './load-statements.ts';

/*
 * Submissions in the trash are visible only in the trash (docs/decisions/0017). A column cannot enforce this,
 * so every statement that reads submissions says how it treats the trash.
 */

const statements = await loadStatements();

/** Statements that may see everything, or that read submissions by ids found without the trash. */
const exempt: Readonly<Record<string, string>> = {
  search_submissions: 'by search_documents, which the trash has none of',
  search_spellings: 'by search_documents',
  search_question: 'by search_documents',
  search_question_spellings: 'by search_documents',
  'search.rebuild_document': 'by search_documents',
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
  'webhooks.find_answered_form': 'reads only which version was answered',
  'erase.count_belongings': 'by ids that were locked to be erased, wherever they lie',
  'erase.strip_submission': 'by ids that were locked to be erased, wherever they lie',
  'people.look_in_events': 'asks only whether the submission is gone for good',
  'submissions.update_submission': 'after lock_submission',
  'submissions.free_key': 'of a submission that was just moved to the trash',
};

/** An invitation stays answered while its submission is in the trash, so no reminder is sent for it. */
const exemptRoom = 'invitations.';

test('every statement that reads or changes submissions leaves the trash out or gives a reason', () => {
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

test('every exemption is for an existing statement', () => {
  const names = new Set(statements.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(exempt).filter((name) => !names.has(name)),
    [],
  );
});
