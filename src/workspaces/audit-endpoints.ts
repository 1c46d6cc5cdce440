import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';
import { now, timeOfId } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { attachmentHeader } from '#kit/http.ts';
import { operation } from '#kit/operation.ts';
import {
  finishPage,
  listParameters,
  listSchemaOf,
  maximumId,
  namedObject,
  readPageRequest,
  upperIdBound,
} from '#kit/pagination.ts';
import { columns, statement } from '#kit/statement.ts';
import { readTimeRange, timeRangeParameters } from '#kit/time-range.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { omittedValue } from './audit/account-actions.ts';
import {
  type AuditActor,
  auditFilterParameters,
  auditFilterSql,
  selectAuditEntries,
} from './audit/audit-entries.ts';
import { requireWorkspaceAccess } from './authenticate.ts';

export const countAccountEvents = statement('user_id', 'count')`
  select count(*) as count from person_lines where user_id = $user_id`;

/**
 * Deletes old events of accounts. @returns the deleted ones; a full batch of 1,000 means that there may be
 * more.
 */
export const deleteOldAccountEvents = statement('before:uuid', 'id')`
  delete from person_lines where (user_id, id) in (
    select l.user_id, l.id from users u cross join lateral (
      select user_id, id from person_lines where user_id = u.id and id < $before order by id limit 1000) l
    limit 1000)
  returning id`;

/** The parameters of a statement that creates something and inserts its audit entry. */
export const auditEntryParameters = columns(
  'line_id:uuid? line_actor_kind:text? line_actor_id:text? line_operation:text?',
  'line_method:text? line_path:text? line_request_id:uuid? line_address:text?',
  'line_agent:text? line_session_id:text?',
);

/**
 * Returns SQL for a `with` clause that inserts the audit entries of created rows (workspace_id, id), with
 * their status.
 */
export const insertAuditEntrySql = (source: string): string =>
  `insert into audit_lines (workspace_id, id, actor_kind, actor_id, operation, method, path, thing_id, request_id, status,
                            address, agent, session_id)
     select workspace_id, $line_id, $line_actor_kind, $line_actor_id, $line_operation, $line_method, $line_path, id,
            $line_request_id, 201, $line_address, $line_agent, $line_session_id
       from ${source} where $line_id is not null`;

const countAuditEntries = statement(auditFilterParameters, 'count')`
  select count(*) as count from audit_lines a where ${auditFilterSql}`;

/** How an action was performed, by the kind of its actor. */
const meansByActor = {
  person: 'session',
  key: 'key',
  operator: 'command',
  service: 'schedule',
} as const satisfies Record<AuditActor, string>;
const means = Object.values(meansByActor);
const kindOf = (by: (typeof means)[number]): AuditActor =>
  (Object.keys(meansByActor) as AuditActor[]).find((kind) => meansByActor[kind] === by)!;

const anything = Type.Unknown();
const word = Type.String({ minLength: 1, maxLength: 100 });

const AuditLineShape = namedObject('AuditLine', {
  id: uuidSchema,
  at: timestampSchema,
  actor: Type.Object({
    kind: Type.Enum(['key', 'person', 'operator', 'service']),
    id: orNull(Type.String()),
    name: orNull(Type.String({ description: 'The current name; null for the operator and the service.' })),
  }),
  operation: Type.String({ description: 'The `operationId`, or a separate name for account events.' }),
  method: Type.String(),
  path: Type.String(),
  thing_id: orNull(
    Type.String({ format: 'uuid', description: 'The id of the object that was changed or created.' }),
  ),
  by: Type.Enum([...means], {
    description:
      'How it was done: in a session, with an API key, on the command line, or by the service on a schedule.',
  }),
  address: orNull(Type.String({ description: 'IP address of the request; null on the command line.' })),
  agent: orNull(Type.String({ description: 'The User-Agent of the browser or program.' })),
  session_id: orNull(Type.String()),
  changes: orNull(
    Type.Record(Type.String(), Type.Object({ from: Type.Optional(anything), to: Type.Optional(anything) }), {
      description: `Changed settings by name; long values are \`${omittedValue}\`. Null if nothing changed or there are no settings.`,
    }),
  ),
  request_id: orNull(Type.String({ format: 'uuid', description: '`X-Request-Id` of the response.' })),
  status: orNull(Type.Integer({ description: 'Status of the response; null if the outcome is unknown.' })),
});

const filterParameters = {
  by: Type.Optional(Type.Enum([...means])),
  actor_id: Type.Optional(word),
  operation: Type.Optional(word),
  thing_id: Type.Optional(uuidSchema),
  ...timeRangeParameters,
} as const;
const AuditFilter = strictObject(filterParameters);
const AuditQuery = strictObject({ ...listParameters, ...filterParameters });

const dateOf = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text));

const filterOf = (workspaceId: string, query: Static<typeof AuditFilter>) => ({
  workspace_id: workspaceId,
  actor_kind: query.by === undefined ? null : kindOf(query.by),
  actor_id: query.actor_id ?? null,
  operation: query.operation ?? null,
  thing_id: query.thing_id ?? null,
  from: dateOf(readTimeRange(query).from),
  to: dateOf(readTimeRange(query).to),
});

type Found = Awaited<ReturnType<typeof selectAuditEntries>>[number];
const formatAuditEntry = ({ actor_kind: kind, actor_id, actor_name, ...row }: Found) => ({
  ...row,
  at: timeOfId(row.id).toISOString(),
  actor: { kind, id: actor_id, name: actor_name },
  by: meansByActor[kind],
});

/** The number of entries that are read at a time for the export file. */
const entriesPerBatch = 1_000;

/** Operations of the audit log. */
export const auditEndpoints = ({ database }: { database: Database }) => ({
  listAuditLog: operation({
    summary: 'List audit log',
    description:
      'Returns who changed forms or administration, signed in or tried to, read a single submission, or exported or deleted data, newest first. Contains no answers and no secrets. The workspace sets how long entries are kept. Submissions have their own history of changes.',
    permission: 'audit:read',
    query: AuditQuery,
    reply: { status: 200, description: 'A page of audit entries.', schema: listSchemaOf(AuditLineShape) },
    async run({ workspaceId, formIds, query }) {
      requireWorkspaceAccess(formIds);
      const cut = readPageRequest(query, 'audit');
      const filter = filterOf(workspaceId, query);
      const place = { below: upperIdBound(cut), limit: cut.limit, offset: cut.offset };
      const found = await selectAuditEntries(database, { ...filter, ...place });
      const total = cut.total ?? (await countAuditEntries(database, filter))[0]!.count;
      const { rows, ends } = finishPage(cut, found, total);
      return { body: { data: rows.map(formatAuditEntry), ...ends } };
    },
  }),

  exportAuditLog: operation({
    summary: 'Export audit log',
    description:
      'Returns all entries that match the filter, newest first, as NDJSON: one JSON object per line, with the same fields as in the list.',
    permission: 'audit:read',
    audit: 'entry',
    query: AuditFilter,
    reply: { status: 200, description: 'The file.', content: ['application/x-ndjson'] },
    async run({ workspaceId, formIds, query }) {
      requireWorkspaceAccess(formIds);
      const day = now().toISOString().slice(0, 10);
      return {
        headers: {
          'Content-Type': 'application/x-ndjson',
          ...attachmentHeader('Audit log', ` ${day}.ndjson`),
        },
        stream: Readable.from(exportAuditEntries(database, filterOf(workspaceId, query))),
      };
    },
  }),
});

async function* exportAuditEntries(
  database: Database,
  filter: ReturnType<typeof filterOf>,
): AsyncGenerator<string, void, void> {
  for (let below = maximumId; ; ) {
    const rows = await selectAuditEntries(database, { ...filter, below, limit: entriesPerBatch, offset: 0 });
    if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(formatAuditEntry(row))}\n`).join('');
    if (rows.length < entriesPerBatch) return;
    below = rows.at(-1)!.id;
  }
}
