import { isRecord } from '#ast/basics/json.ts';
import { newId, uuidPattern } from '#kit/clock.ts';
import { batchCalls } from '#kit/concurrency.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, errorCodes } from '#kit/errors.ts';
import type { Log } from '#kit/log.ts';
import type { AuditEntry, AuditPolicy, ClientInfo, OperationResponse, RequestScope } from '#kit/operation.ts';
import { runPeriodically } from '#kit/queue/periodic.ts';
import { statement, texts } from '#kit/statement.ts';
import { auditedChangesBetween } from './account-actions.ts';
import { type AccountEvent, recordAccountEvent } from './record-account-event.ts';

/** Inserts the entries of operations that are starting. */
const insertAuditEntries = statement(
  [
    'workspace_ids ids actor_kinds:texts operations:texts methods paths request_ids:texts',
    'addresses agents:texts session_ids:texts',
    {
      /** '' for the operator. */
      actor_ids: texts,
      /** '' if there is none. */
      thing_ids: texts,
    },
  ],
  '',
)`
  /* sweep: across workspaces */
  insert into audit_lines (workspace_id, id, actor_kind, actor_id, operation, method, path, thing_id, request_id, address,
                           agent, session_id)
  select given.workspace_id, given.id, actor_kind, nullif(actor_id, ''), operation, method, path,
         nullif(thing_id, '')::uuid, nullif(request_id, '')::uuid, nullif(address, ''), nullif(agent, ''),
         nullif(session_id, '')
    from unnest($workspace_ids, $ids, $actor_kinds, $actor_ids, $operations, $methods, $paths, $thing_ids, $request_ids,
                $addresses, $agents, $session_ids)
      as given (workspace_id, id, actor_kind, actor_id, operation, method, path, thing_id, request_id, address, agent,
                session_id)`;

/** Records outcomes. Refused operations changed nothing, so their entries are deleted. */
export const recordAuditOutcomes = statement('workspace_ids ids statuses thing_ids changes:texts', '')`
  /* sweep: across workspaces */
  with given as (
    select * from unnest($workspace_ids, $ids, $statuses, $thing_ids, $changes)
      as given (workspace_id, id, status, thing_id, changes)),
  refused as (
    delete from audit_lines a using given
     where a.workspace_id = given.workspace_id and a.id = given.id and given.status >= 400)
  update audit_lines a set status = given.status, thing_id = coalesce(a.thing_id, nullif(given.thing_id, '')::uuid),
                           changes = nullif(given.changes, '')::jsonb
    from given where a.workspace_id = given.workspace_id and a.id = given.id and given.status < 400`;

/** Returns the audit entry of a request. Keeps only ids from the parameters in its path. */
export function auditEntryOfRequest(
  { name, method, path }: { name: string; method: string; path: string },
  { workspaceId, actor }: RequestScope,
  { params, id: requestId, origin }: { params: unknown; id?: string; origin?: ClientInfo | undefined },
): AuditEntry {
  const given = params as Readonly<Record<string, string>>;
  const idOf = (parameter: string): string | undefined =>
    uuidPattern.test(given[parameter] ?? '') ? given[parameter] : undefined;
  return {
    workspaceId,
    actor,
    origin,
    operation: name,
    method,
    path: path.replaceAll(/:(\w+)/g, (pattern, parameter: string) => idOf(parameter) ?? pattern),
    thingId: idOf('id'),
    requestId,
  };
}

/**
 * Returns the parameters of a statement that inserts an audit entry itself (insertAuditEntrySql). All are
 * null if there is no entry.
 */
export const toAuditEntryParameters = (line: AuditEntry | undefined) => ({
  line_id: line ? newId() : null,
  line_actor_kind: line?.actor.kind ?? null,
  line_actor_id: line?.actor.id || null,
  line_operation: line?.operation ?? null,
  line_method: line?.method ?? null,
  line_path: line?.path ?? null,
  line_request_id: line?.requestId ?? null,
  line_address: line?.origin?.address ?? null,
  line_agent: line?.origin?.agent ?? null,
  line_session_id: line?.actor.sessionId ?? null,
});

/**
 * Reads the object that an operation changes, before and after the change. `made` is the id of a new object,
 * from the response.
 */
export type AuditedObjectReader = {
  before: () => Promise<unknown>;
  after: (answer: OperationResponse, createdId: string | undefined) => Promise<unknown>;
};

export type AuditLog = {
  /**
   * Runs an operation with its audit entry, if it needs one. The entry is inserted first, or by the operation
   * itself, so no operation runs without it. If the entry can't be inserted, the operation does not run.
   * @param compared reads what the operation changes, before and after.
   */
  note<Caller extends RequestScope>(
    operation: { readonly audit?: AuditPolicy },
    line: AuditEntry | undefined,
    caller: Caller,
    run: (caller: Caller) => Promise<OperationResponse>,
    compared?: AuditedObjectReader,
  ): Promise<OperationResponse>;
  /**
   * Records an event of an account after the response, so that timing does not reveal whether the account
   * exists.
   */
  noteLater(line: AccountEvent): void;
  /** Writes the remaining outcomes. */
  stop(): Promise<void>;
};

/** How long an outcome may wait to be written in a batch. */
const pauseMs = 250;

type StartedEntry = AuditEntry & { id: string };
type FinishedEntry = { workspaceId: string; id: string; status: number; thingId: string; changes: string };
/**
 * The number of sign-in attempts that may wait to be written; further ones are dropped. Only an unavailable
 * database causes this many.
 */
const mostWaiting = 1_000;

/**
 * Opens the audit log. Entries of operations that start together are inserted in one batch before the
 * operations run. Outcomes are written after the response, so they do not delay it. If a process dies in
 * between, its entries stay without an outcome.
 */
export function openAuditLog({ database, log }: { database: Database; log: Log }): AuditLog {
  const begin = batchCalls(
    async (lines: readonly StartedEntry[]) => {
      await insertAuditEntries(database, {
        workspace_ids: lines.map(({ workspaceId }) => workspaceId),
        ids: lines.map(({ id }) => id),
        actor_kinds: lines.map(({ actor }) => actor.kind),
        actor_ids: lines.map(({ actor }) => actor.id),
        operations: lines.map(({ operation }) => operation),
        methods: lines.map(({ method }) => method),
        paths: lines.map(({ path }) => path),
        thing_ids: lines.map(({ thingId }) => thingId ?? ''),
        request_ids: lines.map(({ requestId }) => requestId ?? ''),
        addresses: lines.map(({ origin }) => origin?.address ?? ''),
        agents: lines.map(({ origin }) => origin?.agent ?? ''),
        session_ids: lines.map(({ actor }) => actor.sessionId ?? ''),
      });
      return lines.map(() => undefined);
    },
    { most: 500, atOnce: 2 },
  );

  let ended: FinishedEntry[] = [];
  const later: AccountEvent[] = [];
  const settle = async (): Promise<void> => {
    for (const line of later.splice(0)) await recordAccountEvent(database, line);
    if (ended.length === 0) return;
    const batch = ended;
    ended = [];
    try {
      await recordAuditOutcomes(database, {
        workspace_ids: batch.map(({ workspaceId }) => workspaceId),
        ids: batch.map(({ id }) => id),
        statuses: batch.map(({ status }) => status),
        thing_ids: batch.map(({ thingId }) => thingId),
        changes: batch.map(({ changes }) => changes),
      });
    } catch (error) {
      // Retried with the next batch. An entry without an outcome stays.
      ended = [...batch, ...ended].slice(-10_000);
      throw error;
    }
  };
  const settling = runPeriodically('noting how operations ended', { pauseMs, log, work: settle });

  /** Inserts the entry, runs the operation and queues its outcome. */
  const noteBoth = async (
    line: AuditEntry,
    run: () => Promise<OperationResponse>,
    compared: AuditedObjectReader | undefined,
  ): Promise<OperationResponse> => {
    const { workspaceId } = line;
    const id = newId();
    await begin({ ...line, id });
    const end = (status: number, thingId = '', changes = ''): void =>
      void ended.push({ workspaceId, id, status, thingId, changes });
    try {
      const before = await compared?.before();
      const answer = await run();
      const createdThing = createdId(answer);
      // The operation has succeeded, so a failed comparison must not make it fail.
      const changes = await compared?.after(answer, createdThing).then(
        (after) => auditedChangesBetween(before, after),
        (error: unknown) => {
          log.warn({ err: error }, 'could not read what an operation changed');
          return undefined;
        },
      );
      end(answer.status, createdThing, JSON.stringify(changes));
      return answer;
    } catch (error) {
      const status = error instanceof ApiError ? errorCodes[error.code].status : 500;
      // A refused operation changed nothing; a failed one may have changed something.
      if (status < 500) end(status);
      throw error;
    }
  };

  return {
    note(operation, line, caller, run, compared) {
      if (!line) return run(caller);
      return operation.audit === 'own entry'
        ? run({ ...caller, line })
        : noteBoth(line, () => run(caller), compared);
    },
    noteLater(line) {
      if (later.length < mostWaiting) later.push(line);
    },
    async stop() {
      await settling.stop();
      await settle().catch((error: unknown) =>
        log.warn({ err: error }, 'could not write the last outcomes of the audit log'),
      );
    },
  };
}

/** Returns the id in the response of an operation. */
function createdId({ body, json }: OperationResponse): string | undefined {
  const id = isRecord(body)
    ? body['id']
    : /^\{"id":"([^"]+)"/.exec(typeof json === 'string' ? json : '')?.[1];
  return typeof id === 'string' && uuidPattern.test(id) ? id : undefined;
}
