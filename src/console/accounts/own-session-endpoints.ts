import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { endOtherSessions, endSession, selectSessions } from '#workspaces/sessions/queries.ts';
import type { ConsoleServices } from '../services.ts';
import { Sessions } from './shapes.ts';

/** Where a person is signed in, and the ends of it. */
export function ownSessionEndpoints({ database }: Pick<ConsoleServices, 'database'>) {
  return {
    list: operation({
      summary: 'List where one is signed in',
      caller: 'person',
      reply: { status: 200, description: 'The newest first.', schema: Sessions },
      async run({ person }) {
        const rows = await selectSessions(database, { user_id: person.id, now: now() });
        const data = rows.map((row) => ({
          id: row.id,
          browser: row.user_agent || null,
          signed_in_at: row.created_at.toISOString(),
          used_at: row.updated_at.toISOString(),
          is_halfway: row.is_halfway,
          is_this: row.id === person.sessionId,
        }));
        return { body: { data } };
      },
    }),

    end: operation({
      summary: 'End one of one’s sessions',
      caller: 'person',
      params: idParameter,
      reply: { status: 204, description: 'It opens nothing any more.' },
      async run({ person, params }) {
        const ended = await endSession(database, { user_id: person.id, id: params.id });
        if (ended.length === 0) throw new ApiError('not_found');
      },
    }),

    endOthers: operation({
      summary: 'End every other session of one’s own',
      caller: 'person',
      reply: { status: 204, description: 'This one is left.' },
      async run({ person }) {
        await endOtherSessions(database, { user_id: person.id, id: person.sessionId });
      },
    }),
  };
}
