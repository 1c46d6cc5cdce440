import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadStatements } from './load-statements.ts';

/*
 * Submissions in the trash are visible only in the trash (docs/decisions/0017). A column cannot enforce this,
 * so every statement that reads submissions says how it treats the trash.
 */

const statements = await loadStatements();

/** Texts of statements that may see everything, or that read submissions by ids found without the trash. */
const exempt: readonly (readonly [text: RegExp, why: string])[] = [
  [/\bfrom search_documents\b/, 'by search_documents, which the trash has none of'],
  [/^with submission as \((select status, tags|\s*update submissions)/, 'by ids that were locked before'],
  [
    /^\/\* operator: across workspaces \*\/\s*select workspace_id from submissions/,
    'only says which workspace an id is of',
  ],
  [/\bfalse as is_spam from submissions\b/, 'a repeated submit is the same one, also in the trash'],
  [/\bh\.key = \$\d+::uuid\)\)/, "the visitor's own unfinished submission, by its key"],
  [
    /\bc\.bulk_id = \$/,
    'an undo also takes out of the trash; the caller checks the trash for tags and status',
  ],
  [
    /^select s\.id, s\.status[^]*order by s\.id (limit \$\d+::integer )?for update of s$/,
    'deletes permanently',
  ],
  [/coalesce\(\(select s\.version from submissions s/, 'reads only which version was answered'],
  [
    /^update submissions s set key = null, key_digest = null\b/,
    'of a submission that was just moved to the trash',
  ],
  [/\bfrom events t where not t\.is_test\b/, 'only reads whether the submission was deleted permanently'],
  [
    /\bfrom invitations i\b[^]*\bleft join submissions s\b/,
    'an invitation stays answered while its submission is in the trash, so no reminder is sent for it',
  ],
];
const readsSubmissions = statements
  .map(({ text }) => text)
  .filter((text) => /\b(from|join|update) submissions\b/.test(text) && !/trashed_at/.test(text));

test('every statement that reads or changes submissions leaves the trash out or gives a reason', () => {
  assert.deepEqual(
    readsSubmissions.filter((text) => !exempt.some(([exempted]) => exempted.test(text))),
    [],
  );
});

test('every exemption is for an existing statement', () => {
  assert.deepEqual(
    exempt.filter(([exempted]) => !readsSubmissions.some((text) => exempted.test(text))),
    [],
  );
});
