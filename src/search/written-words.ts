import { isRecord } from '#ast/json.ts';
import type { Database } from '#kit/database.ts';
import { mapInTurns } from '#kit/turns.ts';
import { asking, questionParameters, walk, wordsAlone } from './question.ts';
import { statement } from '#kit/statement.ts';

/** The answers of the newest submissions that answer a question; those of unusual length are left out. */
const listWrittenTexts = statement(
  'list_written_texts',
  ['limit', questionParameters],
  'answers:text',
  `with ${asking}
   select s.answers::text as answers
   from (${walk('anywhere', { limit: '$limit', inOrder: true })}) newest
   join submissions s on s.workspace_id = $workspace_id and s.id = newest.id
   where s.trashed_at is null and length(s.answers::text) < 20000`,
);

/** Submissions whose words are read: the newest that have one that begins so. */
const readSubmissions = 100;
/** Longer texts are no names, and cost more than they say. */
const longestText = 200;

type Reach = { workspace_id: string; form_ids: string[] | null };

/** The words that begin in one of these ways in short answers of the newest submissions, in small letters, each as often as it is there. */
export async function writtenWords(
  database: Database,
  reach: Reach,
  beginnings: readonly string[],
): Promise<string[]> {
  const rows = await listWrittenTexts(database, {
    ...reach,
    ...wordsAlone,
    q: '',
    unit_kinds: ['beginning'],
    unit_texts: [beginnings.join(' ')],
    limit: readSubmissions,
  });
  const words = await mapInTurns(
    rows,
    ({ answers }) => answers.length,
    ({ answers }) =>
      [...wordsIn(JSON.parse(answers))].filter((word) =>
        beginnings.some((beginning) => word.startsWith(beginning)),
      ),
  );
  return words.flat();
}

function* wordsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (value.length <= longestText)
      for (const [word] of value.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) yield word;
  } else if (Array.isArray(value)) for (const item of value) yield* wordsIn(item);
  else if (isRecord(value)) for (const item of Object.values(value)) yield* wordsIn(item);
}
