import { Type } from 'typebox';
import { isCleanText, trimText } from '#ast/text.ts';
import { newId, now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireRow } from '#kit/statement.ts';
import { wired } from '#kit/wire.ts';
import { reachSubmission } from '../changes/reach-submission.ts';
import { changedBy } from '../history/changed-by.ts';
import { deleteNote, insertNote, listNotes } from './queries.ts';

/** So many notes a submission has at most, of so many characters. */
export const mostNotes = 200;
/** Characters of a note. */
export const longestNote = 10_000;

const uuid = Type.String({ format: 'uuid' });
const Note = Type.Object({
  id: uuid,
  text: Type.String(),
  author: Type.Union([Type.String(), Type.Null()], {
    description: 'The name of the member or the key; null for somebody who is gone.',
  }),
  created_at: Type.String({ format: 'date-time' }),
});

/** What the people of a workspace write down about a submission. Its sender never sees it, and no webhook tells it. */
export function noteEndpoints({ database }: { database: Database }) {
  return {
    listNotes: operation({
      summary: 'List notes',
      description: 'The notes on a submission, newest first.',
      permission: 'submissions:read',
      params: idParameter,
      reply: { status: 200, description: 'The notes.', schema: Type.Object({ data: Type.Array(Note) }) },
      async run({ params, ...scope }) {
        const { workspaceId, id } = await reachSubmission(database, scope, params.id);
        const all = { workspace_id: workspaceId, submission_id: id, id: null, limit: mostNotes };
        return { body: { data: (await listNotes(database, all)).map(wired) } };
      },
    }),

    addNote: operation({
      summary: 'Add note',
      description: `With its author and moment, up to ${mostNotes} on a submission. 409: there are that many.`,
      permission: 'submissions:write',
      params: idParameter,
      body: Type.Object(
        { text: Type.String({ minLength: 1, maxLength: longestNote }) },
        { additionalProperties: false },
      ),
      example: { body: { text: 'Called back on Monday; waits for an offer.' } },
      errors: ['conflict'],
      reply: { status: 201, description: 'The note.', schema: Note },
      async run({ params, body, ...scope }) {
        const { workspaceId, id: submission_id } = await reachSubmission(database, scope, params.id);
        const text = trimText(body.text);
        if (text === '' || !isCleanText(text)) throw invalid();
        const note = { workspace_id: workspaceId, submission_id, id: newId() };
        const [written] = await insertNote(database, {
          ...note,
          text,
          ...changedBy(scope.actor),
          change_id: newId(),
          now: now(),
          most: mostNotes,
        });
        if (!written!.is_there) throw new ApiError('not_found');
        if (!written!.is_written)
          throw new ApiError('conflict', `A submission has ${mostNotes} notes at most.`);
        const found = requireRow(await listNotes(database, { ...note, limit: 1 }));
        return { body: wired(found) };
      },
    }),

    deleteNote: operation({
      summary: 'Delete note',
      description: 'Its words are gone; the history keeps who took them away.',
      permission: 'submissions:write',
      params: Type.Object({ id: uuid, note: uuid }),
      isDestructive: true,
      reply: { status: 204, description: 'The note is gone.' },
      async run({ params, ...scope }) {
        const { workspaceId, id } = await reachSubmission(database, scope, params.id);
        const deleted = await deleteNote(database, {
          workspace_id: workspaceId,
          submission_id: id,
          id: params.note,
          ...changedBy(scope.actor),
          change_id: newId(),
          now: now(),
        });
        if (deleted.length === 0) throw new ApiError('not_found');
      },
    }),
  };
}

const message = 'A note is a text that is not blank, without characters that cannot be stored.';
const invalid = () =>
  new ApiError('validation_error', message, { errors: [{ field: 'text', message, code: 'not_storable' }] });
