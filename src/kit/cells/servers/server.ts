import { type Database, isSilent, isUnavailable } from '../../database.ts';
import { ApiError } from '../../errors.ts';
import { OtherCellError } from './identity.ts';

/** How a process comes to the database of another server. */
export type Reach = {
  /** Where it is, for a person. */
  readonly place: string;
  /** Whether that is where a sealed address leads. One that cannot be opened is no other. */
  isAt: (server: Buffer) => boolean;
  open: (pool: number) => Database;
  /** Brings the cell that is there to this version. @throws OtherCellError, MigrationError where it is another one, or of a later version. */
  migrate: (there: Database) => Promise<void>;
};

/** Another server than the first, as far as it has a cell. */
export type Server = {
  /** Where it is, for a person. */
  readonly place: string;
  isAt: Reach['isAt'];
  /** It has answered, and the cell is of this version. */
  isOpen(): boolean;
  /** Brings the cell to this version, once for all who ask at the same time. */
  open(): Promise<void>;
  /** Asks what is asked of all cells. @throws ApiError service_unavailable where it does not answer, or lets nobody in. */
  ask<Result>(question: (database: Database) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
};

/** Connections for what is asked of all cells: that the cell's own are all taken by its requests is no silence. */
export const askers = 2;
/** A server that was waited for in vain is not asked again before: one request has several questions. */
export const restMs = 1_000;

/** What asks a cell that may be away, over connections of its own. */
export type Asker = Pick<Server, 'ask'> & { readonly database: Database };

export function askerOf(database: Database): Asker {
  let restsUntil = 0;
  let answeredAt = 0;
  return {
    database,
    async ask(question) {
      const askedAt = performance.now();
      if (askedAt < restsUntil) throw away();
      try {
        const answer = await question(database);
        answeredAt = performance.now();
        return answer;
      } catch (error) {
        // Who was asked before it came back may hear of it after others were answered.
        if (isSilent(error) && answeredAt < askedAt) restsUntil = performance.now() + restMs;
        throw isShut(error) ? away(error) : error;
      }
    },
  };
}

export function serverAt({ place, isAt, open, migrate }: Reach): Server {
  const { database, ask } = askerOf(open(askers));
  let isOpen = false;
  let opening: Promise<void> | undefined;
  const bring = async (): Promise<void> => {
    await migrate(database);
    isOpen = true;
  };
  return {
    place,
    isAt,
    isOpen: () => isOpen,
    open: () => (isOpen ? Promise.resolve() : (opening ??= bring().finally(() => (opening = undefined)))),
    async ask(question) {
      if (!isOpen) throw away();
      return ask(question);
    },
    close: () => database.end(),
  };
}

export const away = (cause?: unknown): ApiError =>
  new ApiError('service_unavailable', undefined, { retryAfter: 1, cause });

/** Whether an error says that a cell does not answer now. */
export const isAway = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof ApiError && error.code === 'service_unavailable');

/** Whether an error says that a cell cannot be reached at all: a server that is busy, or about to start, is there. */
export function isLost(error: unknown): boolean {
  const cause = (error instanceof ApiError && error.cause) || error;
  const { severity, code } = cause as { severity?: string; code?: string };
  return isShut(cause) || (isAway(cause) && (severity === undefined || unconnected.test(code ?? '')));
}

/** What PostgreSQL says to whom it does not let in, or where the cell is not there any more: another password, database or schema. */
const refusals = /^(28|3D|3F|42501|42P01)/;
/** What the coordinator of a cluster says of a node that is away. */
const unconnected = /^08/;
/** Of the system, and of TLS. */
const disconnections =
  /^(E[A-Z0-9]+|CERT_\w+|ERR_(TLS|SSL)_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;
/** What the driver says without a code. */
const disagreements = /^SASL|does not support SSL/;

/** Whether an error says that a server lets nobody in: it is away until somebody sees to it. */
function isShut(error: unknown): boolean {
  if (error instanceof OtherCellError) return true;
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if ('severity' in error) return refusals.test(code);
  return disconnections.test(code) || disagreements.test(error.message);
}

/** Whether a server answers, and has what is looked for. */
export async function isThere(look: () => Promise<unknown>): Promise<boolean> {
  try {
    await look();
    return true;
  } catch (error) {
    if (!isLost(error)) throw error;
    return false;
  }
}
