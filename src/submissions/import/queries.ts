import { failedReason, takeFirst } from '#kit/queue/queries.ts';
import { integer, jsonb, statement } from '#kit/statement.ts';
import type { ImportEntry, LineProblem } from './read-line.ts';

/** A line that waits, with the key under which it becomes one submission and no second. */
export type WaitingEntry = ImportEntry & { key: string };

/**
 * Stores an import with the lines that wait, a list of {line, entry}, and the problems of those that were left out before.
 * Stores nothing for a form that is gone.
 */
export const insertImport = statement(
  'import.insert_import',
  ['workspace_id id form_id requested_by? created_at total:integer refused problems', 'lines:jsonText'],
  'id',
  `with begun as (
     insert into submission_imports (workspace_id, id, form_id, total, refused, problems, requested_by, created_at)
     select workspace_id, $id, id, $total, $refused, $problems::jsonb, $requested_by, $created_at
     from forms where workspace_id = $workspace_id and id = $form_id and deleted_at is null
     returning workspace_id, id),
   lines as materialized (select * from json_to_recordset($lines) as l (line integer, entry jsonb)),
   waiting as (
     insert into submission_import_lines (workspace_id, import_id, line, entry)
     select begun.workspace_id, begun.id, lines.line, lines.entry from begun cross join lines)
   select id from begun`,
);

/** Takes the first lines that wait; in the transaction that makes submissions of them. */
export const takeLines = takeFirst(
  'import.take_lines',
  { table: 'submission_import_lines', of: 'import_id', by: 'line' },
  { line: integer, entry: jsonb<WaitingEntry>() },
);

/** How far an import has come. Of what was left out the first hundred are kept. */
export const advanceImport = statement(
  'import.advance_import',
  'workspace_id id created refused problems most finished_at?',
  '',
  `update submission_imports
   set created = created + $created, refused = refused + $refused, finished_at = $finished_at,
       problems = case when jsonb_array_length(problems) < $most then problems || $problems::jsonb else problems end
   where workspace_id = $workspace_id and id = $id`,
);

/** The last imports of a form, newest first. */
export const listImports = statement(
  'import.list_imports',
  'workspace_id form_id limit',
  [
    'id total:integer created refused requested_by? created_at finished_at? failed_reason?',
    { problems: jsonb<Pick<LineProblem, 'line' | 'message'>[]>() },
  ],
  `select i.id, i.total, i.created, i.refused, i.problems, u.name as requested_by, i.created_at, i.finished_at,
          ${failedReason('i', 'import')} as failed_reason
     from submission_imports i left join users u on u.id = i.requested_by
    where i.workspace_id = $workspace_id and i.form_id = $form_id
    order by i.id desc limit $limit`,
);
