import { Type } from 'typebox';
import { now, timeOfId } from '#kit/clock.ts';
import { belowId, endCut, listParameters, readCut } from '#kit/cursor.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireRow } from '#kit/statement.ts';
import { notePerson, personalLine } from '#workspaces/audit/note-person.ts';
import { requirePassword } from '#workspaces/second-factor/password-again.ts';
import { endOtherSessions, endSession, selectSessions } from '#workspaces/sessions.ts';
import type { ConsoleServices } from '../services.ts';
import { Activity, PasswordAgain, Sessions } from './shapes.ts';
import { countPersonalLines } from '#workspaces/audit/endpoints.ts';
import { selectPersonalLines } from '#workspaces/audit/audit-lines.ts';

/** Where a person is signed in, and the ends of it. */
export function ownSessionEndpoints(services: Pick<ConsoleServices, 'database' | 'requestCounter'>) {
  const { database } = services;
  return {
    listSessions: operation({
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

    listActivity: operation({
      summary: 'List what concerned one’s account',
      caller: 'person',
      query: Type.Object(listParameters, { additionalProperties: false }),
      reply: { status: 200, description: 'The newest first, of the last year.', schema: Activity },
      async run({ person, query }) {
        const cut = readCut(query, 'activity');
        const place = { below: belowId(cut), limit: cut.limit, offset: cut.offset };
        const found = await selectPersonalLines(database, { user_id: person.id, ...place });
        const total = cut.total ?? (await countPersonalLines(database, { user_id: person.id }))[0]!.count;
        const { rows, ends } = endCut(cut, found, total);
        const data = rows.map(({ id, actor_kind, operation, status, address, agent, session_id }) => ({
          id,
          at: timeOfId(id).toISOString(),
          by_operator: actor_kind === 'operator',
          operation,
          status,
          address,
          browser: agent,
          is_this: session_id === person.sessionId,
        }));
        return { body: { data, ...ends } };
      },
    }),

    endSession: operation({
      summary: 'End one of one’s sessions',
      caller: 'person',
      params: idParameter,
      body: PasswordAgain,
      reply: { status: 204, description: 'It opens nothing any more.' },
      errors: ['rate_limit_exceeded'],
      async run({ person, visitor, params, body }) {
        await requirePassword(services, person, body.password);
        requireRow(await endSession(database, { user_id: person.id, id: params.id }));
        await notePerson(database, personalLine({ person, visitor }, 'endSession'));
      },
    }),

    endOtherSessions: operation({
      summary: 'End every other session of one’s own',
      caller: 'person',
      body: PasswordAgain,
      reply: { status: 204, description: 'This one is left.' },
      errors: ['rate_limit_exceeded'],
      async run({ person, visitor, body }) {
        await requirePassword(services, person, body.password);
        await endOtherSessions(database, { user_id: person.id, id: person.sessionId });
        await notePerson(database, personalLine({ person, visitor }, 'endOtherSessions'));
      },
    }),
  };
}
