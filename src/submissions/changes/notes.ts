import { Type } from 'typebox';
import { isCleanText, trimText } from '#ast/basics/text.ts';
import { newId, now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireRow, statement } from '#kit/statement.ts';
import { strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { toChangedBy } from '../differences.ts';
import { changedByColumns } from '../history.ts';
import { requireFormOfSubmission } from './endpoints.ts';

/**
 * Inserts a note and records it in the history of the submission.
 * @returns whether the submission exists, and whether the note was inserted: it is not if the submission
 * already has the maximum number of notes.
 */
const insertNote = statement(
  ['workspace_id submission_id id text change_id now most:bigint', changedByColumns],
  'is_there is_written:boolean',
)`
  with submission as (
    select workspace_id, id from submissions
    where workspace_id = $workspace_id and id = $submission_id and trashed_at is null
    for update),
  note as (
    insert into submission_notes (workspace_id, submission_id, id, text, written_by, api_key_id, created_at, updated_at)
    select workspace_id, id, $id, $text, $changed_by, $api_key_id, $now, $now from submission
    where $most > (select count(*) from submission_notes n
                   where n.workspace_id = $workspace_id and n.submission_id = $submission_id)
    returning workspace_id, submission_id),
  change as (
    insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, changed_at, changes)
    select workspace_id, submission_id, $change_id, 'note_added', $changed_by, $api_key_id, $through, $now, '[]' from note)
  select exists (select from submission) as is_there, exists (select from note) as is_written`;

/**
 * Selects the notes of a submission, newest first, each with the name of the member or API key that wrote it.
 */
const listNotes = statement('workspace_id submission_id id? limit', 'id text author:text? created_at')`
  select n.id, n.text, coalesce(u.name, k.name) as author, n.created_at
  from submission_notes n
  left join users u on u.id = n.written_by
  left join api_keys k on k.workspace_id = n.workspace_id and k.id = n.api_key_id
  where n.workspace_id = $workspace_id and n.submission_id = $submission_id and ($id is null or n.id = $id)
  order by n.id desc limit $limit`;

/**
 * Deletes a note and records this in the history. The submission is locked first, as when a submission is
 * deleted: otherwise both could deadlock, because the history refers to the submission.
 */
const deleteNote = statement(['workspace_id submission_id id change_id now', changedByColumns], 'id')`
  with submission as (
    select workspace_id, id from submissions
    where workspace_id = $workspace_id and id = $submission_id and trashed_at is null
    for key share),
  note as (
    delete from submission_notes n using submission s
    where n.workspace_id = s.workspace_id and n.submission_id = s.id and n.id = $id
    returning n.workspace_id, n.submission_id, n.id),
  change as (
    insert into submission_changes (workspace_id, submission_id, id, kind, changed_by, api_key_id, through, changed_at, changes)
    select workspace_id, submission_id, $change_id, 'note_deleted', $changed_by, $api_key_id, $through, $now, '[]' from note)
  select id from note`;

/** The maximum number of notes per submission. */
export const mostNotes = 200;
/** The maximum number of characters of a note. */
const longestNote = 10_000;

const uuid = uuidSchema;
const Note = Type.Object({
  id: uuid,
  text: Type.String(),
  author: Type.Union([Type.String(), Type.Null()], {
    description: 'The name of the member or API key; null if it was deleted.',
  }),
  created_at: timestampSchema,
});

/**
 * Operations for the notes of members on a submission. Visitors never see them, and webhooks do not contain
 * them.
 */
export function noteEndpoints({ database }: { database: Database }) {
  return {
    listNotes: operation({
      summary: 'List notes',
      description: 'Returns the notes on a submission, newest first.',
      permission: 'submissions:read',
      params: idParameter,
      reply: { status: 200, description: 'The notes.', schema: Type.Object({ data: Type.Array(Note) }) },
      async run({ params, ...scope }) {
        const { workspaceId, id } = await requireFormOfSubmission(database, scope, params.id);
        const all = { workspace_id: workspaceId, submission_id: id, id: null, limit: mostNotes };
        return { body: { data: (await listNotes(database, all)).map(asWireValue) } };
      },
    }),

    addNote: operation({
      summary: 'Add note',
      description: `Adds a note with its author and time. A submission can have up to ${mostNotes} notes. 409 if it already has that many.`,
      permission: 'submissions:write',
      audit: { none: 'Submissions have their own history.' },
      params: idParameter,
      body: strictObject({ text: Type.String({ minLength: 1, maxLength: longestNote }) }),
      example: { body: { text: 'Called back on Monday; waiting for an offer.' } },
      errors: ['conflict'],
      reply: { status: 201, description: 'The note.', schema: Note },
      async run({ params, body, ...scope }) {
        const { workspaceId, id: submission_id } = await requireFormOfSubmission(database, scope, params.id);
        const text = trimText(body.text);
        if (text === '' || !isCleanText(text)) throw invalid();
        const note = { workspace_id: workspaceId, submission_id, id: newId() };
        const [written] = await insertNote(database, {
          ...note,
          text,
          ...toChangedBy(scope.actor),
          change_id: newId(),
          now: now(),
          most: mostNotes,
        });
        if (!written!.is_there) throw new ApiError('not_found');
        if (!written!.is_written)
          throw new ApiError(
            'conflict',
            `A submission can have at most ${mostNotes} notes. Delete one first.`,
          );
        const found = requireRow(await listNotes(database, { ...note, limit: 1 }));
        return { body: asWireValue(found) };
      },
    }),

    deleteNote: operation({
      summary: 'Delete note',
      description: 'Deletes a note. The history records who deleted it, but not its text.',
      permission: 'submissions:write',
      audit: 'entry',
      params: Type.Object({ id: uuid, note: uuid }),
      isDestructive: true,
      reply: { status: 204, description: 'The note is deleted.' },
      async run({ params, ...scope }) {
        const { workspaceId, id } = await requireFormOfSubmission(database, scope, params.id);
        const deleted = await deleteNote(database, {
          workspace_id: workspaceId,
          submission_id: id,
          id: params.note,
          ...toChangedBy(scope.actor),
          change_id: newId(),
          now: now(),
        });
        if (deleted.length === 0) throw new ApiError('not_found');
      },
    }),
  };
}

const message = 'The text of a note must not be blank or contain characters that cannot be stored.';
const invalid = () =>
  new ApiError('validation_error', message, { errors: [{ field: 'text', message, code: 'not_storable' }] });
