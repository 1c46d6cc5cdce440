import { isRecord } from '#ast/json.ts';
import { newId, now, uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, errorCodes } from '#kit/errors.ts';
import { gather } from '#kit/gather.ts';
import type { Log } from '#kit/log.ts';
import type { Answer, AuditLine, Scope } from '#kit/operation.ts';
import { runPeriodically } from '#kit/periodic.ts';
import { deleteOldLines, insertLines, settleLines } from './queries.ts';

/** The line of a request to an operation. Of what stands in its address the ids alone are kept. */
export function lineOf(
  { name, method, path }: { name: string; method: string; path: string },
  { workspaceId, actor }: Scope,
  { params, id: requestId }: { params: unknown; id?: string },
): AuditLine {
  const given = params as Readonly<Record<string, string>>;
  const idOf = (parameter: string): string | undefined =>
    uuidPattern.test(given[parameter] ?? '') ? given[parameter] : undefined;
  return {
    workspaceId,
    actor,
    operation: name,
    method,
    path: path.replaceAll(/:(\w+)/g, (pattern, parameter: string) => idOf(parameter) ?? pattern),
    thingId: idOf('id'),
    requestId,
  };
}

/** What a statement that writes a line itself (insertedLine) is given of it; null: there is none. */
export const lineValues = (line: AuditLine | undefined) => ({
  line_id: line ? newId() : null,
  line_actor_kind: line?.actor.kind ?? null,
  line_actor_id: line?.actor.id || null,
  line_operation: line?.operation ?? null,
  line_method: line?.method ?? null,
  line_path: line?.path ?? null,
  line_request_id: line?.requestId ?? null,
});

export type AuditLog = {
  /**
   * Runs an operation with its line, if it has one: it begins when that is written, or writes it with what it does, so
   * that none is without one. Where the line cannot be written nothing is done.
   */
  note<Caller extends Scope>(
    operation: { readonly isNotingItself: boolean },
    line: AuditLine | undefined,
    caller: Caller,
    run: (caller: Caller) => Promise<Answer>,
  ): Promise<Answer>;
  /** Writes how the last ones ended. */
  stop(): Promise<void>;
};

/** For how many days lines are kept. */
export const auditDays = 365;
const dayMs = 86_400_000;
/** How long the end of an operation may wait to be written, with others. */
const pauseMs = 250;

type Begun = AuditLine & { id: string };
type Ended = { workspaceId: string; id: string; status: number; thingId: string };

/**
 * Who did what. Lines of operations that begin at once are written together, before them; how they ended is written
 * behind, so that it costs the answer nothing. A process that dies in between leaves a line that says so: its end is not
 * known.
 */
export function openAuditLog({ database, log }: { database: Database; log: Log }): AuditLog {
  const begin = gather(
    async (lines: readonly Begun[]) => {
      await insertLines(database, {
        workspace_ids: lines.map(({ workspaceId }) => workspaceId),
        ids: lines.map(({ id }) => id),
        actor_kinds: lines.map(({ actor }) => actor.kind),
        actor_ids: lines.map(({ actor }) => actor.id),
        operations: lines.map(({ operation }) => operation),
        methods: lines.map(({ method }) => method),
        paths: lines.map(({ path }) => path),
        thing_ids: lines.map(({ thingId }) => thingId ?? ''),
        request_ids: lines.map(({ requestId }) => requestId ?? ''),
      });
      return lines.map(() => undefined);
    },
    { most: 500, atOnce: 2 },
  );

  let ended: Ended[] = [];
  const settle = async (): Promise<void> => {
    if (ended.length === 0) return;
    const batch = ended;
    ended = [];
    try {
      await settleLines(database, {
        workspace_ids: batch.map(({ workspaceId }) => workspaceId),
        ids: batch.map(({ id }) => id),
        statuses: batch.map(({ status }) => status),
        thing_ids: batch.map(({ thingId }) => thingId),
      });
    } catch (error) {
      // Tried again, together with what came meanwhile. A line that is not settled stays, and says that it began.
      ended = [...batch, ...ended].slice(-10_000);
      throw error;
    }
  };
  const settling = runPeriodically('noting how operations ended', { pauseMs, log, work: settle });

  /** Writes that it begins, runs it, and has its end written. */
  const noteBoth = async (line: AuditLine, run: () => Promise<Answer>): Promise<Answer> => {
    const { workspaceId } = line;
    const id = newId();
    await begin({ ...line, id });
    const end = (status: number, thingId = ''): void => void ended.push({ workspaceId, id, status, thingId });
    try {
      const answer = await run();
      end(answer.status, madeBy(answer));
      return answer;
    } catch (error) {
      const status = error instanceof ApiError ? errorCodes[error.code].status : 500;
      // What was refused did nothing; what failed may have done something.
      if (status < 500) end(status);
      throw error;
    }
  };

  return {
    note(operation, line, caller, run) {
      if (!line) return run(caller);
      return operation.isNotingItself ? run({ ...caller, line }) : noteBoth(line, () => run(caller));
    },
    async stop() {
      await settling.stop();
      await settle().catch((error: unknown) => log.warn({ err: error }, 'the last lines were not settled'));
    },
  };
}

/** The id of what an operation answers with. */
function madeBy({ body, json }: Answer): string | undefined {
  const id = isRecord(body)
    ? body['id']
    : /^\{"id":"([^"]+)"/.exec(typeof json === 'string' ? json : '')?.[1];
  return typeof id === 'string' && uuidPattern.test(id) ? id : undefined;
}

/** Forgets lines that are older than the log reaches back. */
export async function pruneAudit(database: Database): Promise<void> {
  const before = new Date(now().getTime() - auditDays * dayMs);
  for (;;) {
    const gone = await deleteOldLines(database, { before });
    if (gone.length < 1_000) return;
  }
}
