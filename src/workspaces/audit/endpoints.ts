import { Type } from 'typebox';
import { timeOfId } from '#kit/clock.ts';
import { belowId, endCut, listOf, listParameters, readCut } from '#kit/cursor.ts';
import type { Database } from '#kit/database.ts';
import { named } from '#kit/named.ts';
import { operation } from '#kit/operation.ts';
import { requireWholeWorkspace } from '../reach.ts';
import { closed, maybe, timestamp, uuid } from '../shapes.ts';
import { auditDays } from './audit-log.ts';
import { countLines, selectLines } from './queries.ts';

const word = Type.String({ minLength: 1, maxLength: 100 });

const AuditLineShape = named(
  'AuditLine',
  Type.Object({
    id: uuid,
    at: timestamp,
    actor: Type.Object({
      kind: Type.Enum(['key', 'person', 'operator']),
      id: maybe(Type.String()),
      name: maybe(Type.String({ description: 'What they are called now; null for the operator.' })),
    }),
    operation: Type.String({
      description: 'Its `operationId`; of how a person signs in, a word of its own.',
    }),
    method: Type.String(),
    path: Type.String(),
    thing_id: maybe(Type.String({ format: 'uuid', description: 'What it was done to, or what it made.' })),
    request_id: maybe(Type.String({ format: 'uuid', description: '`X-Request-Id` of the answer.' })),
    status: maybe(
      Type.Integer({ description: 'Of the answer; null: it began, and how it ended is not known.' }),
    ),
  }),
);

const AuditQuery = Type.Object(
  {
    ...listParameters,
    actor_id: Type.Optional(word),
    operation: Type.Optional(word),
    thing_id: Type.Optional(uuid),
    from: Type.Optional(timestamp),
    to: Type.Optional(timestamp),
  },
  closed,
);

/** Who did what in a workspace. */
export const auditEndpoints = ({ database }: { database: Database }) => ({
  list: operation({
    summary: 'List audit log',
    description: `Who changed what of forms and administration, and who took data out or away, newest first: of the last ${auditDays} days, without answers and secrets. Submissions have histories of their own.`,
    permission: 'audit:read',
    query: AuditQuery,
    reply: { status: 200, description: 'A page of lines.', schema: listOf(AuditLineShape) },
    async run({ workspaceId, formIds, query }) {
      requireWholeWorkspace(formIds);
      const cut = readCut(query, 'audit');
      const filter = {
        workspace_id: workspaceId,
        actor_id: query.actor_id ?? null,
        operation: query.operation ?? null,
        thing_id: query.thing_id ?? null,
        from: query.from === undefined ? null : new Date(query.from),
        to: query.to === undefined ? null : new Date(query.to),
      };
      const place = { below: belowId(cut), limit: cut.limit, offset: cut.offset };
      const found = await selectLines(database, { ...filter, ...place });
      const total = cut.total ?? (await countLines(database, filter))[0]!.count;
      const { rows, ends } = endCut(cut, found, total);
      const data = rows.map(({ actor_kind: kind, actor_id, actor_name, ...row }) => ({
        ...row,
        at: timeOfId(row.id).toISOString(),
        actor: { kind, id: actor_id, name: actor_name },
      }));
      return { body: { data, ...ends } };
    },
  }),
});
