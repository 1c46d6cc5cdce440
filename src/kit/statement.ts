import type { ClientBase, Pool } from 'pg';
import { type Database, databaseOf, homeOf } from './database.ts';
import { noteFullDisk } from './full-disk.ts';
import { ApiError } from './errors.ts';

/**
 * SQL is written as SQL, one statement per query function. A statement names its parameters (`$workspace_id`) and
 * declares the PostgreSQL type of each parameter and column as a value: TypeScript derives the types from it, and
 * `test/statements.test.ts` asks PostgreSQL whether every declaration is true.
 */
export type Queryable = Pool | ClientBase;

/** The PostgreSQL type of a parameter or column, and the TypeScript type it arrives as. */
export type Column<T> = {
  readonly pg: string;
  readonly type?: T;
  /** Makes the value of a column that is not null from what the driver reads. */
  readonly read?: (value: unknown) => T;
};

export const uuid: Column<string> = { pg: 'uuid' };
export const text: Column<string> = { pg: 'text' };
export const integer: Column<number> = { pg: 'integer' };
export const smallint: Column<number> = { pg: 'smallint' };
/** Counts and sizes: below 2^53 here, so they arrive as numbers (see database.ts). */
export const bigint: Column<number> = { pg: 'bigint' };
export const double: Column<number> = { pg: 'double precision' };
export const boolean: Column<boolean> = { pg: 'boolean' };
export const timestamp: Column<Date> = { pg: 'timestamp with time zone' };
export const timestamps: Column<Date[]> = { pg: 'timestamp with time zone[]' };
export const bytes: Column<Buffer> = { pg: 'bytea' };
export const byteStrings: Column<Buffer[]> = { pg: 'bytea[]' };
export const texts: Column<string[]> = { pg: 'text[]' };
export const integers: Column<number[]> = { pg: 'integer[]' };
export const uuids: Column<string[]> = { pg: 'uuid[]' };
/** Days as `YYYY-MM-DD`. */
export const dates: Column<string[]> = { pg: 'date[]' };
/** A JSON column that PostgreSQL hands over parsed; a parameter is an object, which the driver writes as JSON. */
export const json = <T extends object>(): Column<T> => ({ pg: 'json' });
export const jsonb = <T extends object>(): Column<T> => ({ pg: 'jsonb' });
/** A parameter that is JSON text already. */
export const jsonText: Column<string> = { pg: 'json' };
/** A parameter that is the text of a JSON path. */
export const jsonPath: Column<string> = { pg: 'jsonpath' };
export const jsonPaths: Column<string[]> = { pg: 'jsonpath[]' };
/** A text column that holds one of a few words. */
export const word = <T extends string>(): Column<T> => ({ pg: 'text' });
/** The same column where the value may be missing. */
export const nullable = <T>(column: Column<T>): Column<T | null> => ({ ...column });

type Nullable<C> = { [Name in keyof C]: C[Name] extends Column<infer Value> ? Column<Value | null> : never };
/** The same columns of a row that may not be there: to the driver they are no others. */
export const orNothing = <C extends Columns>(columns: C): Nullable<C> => columns as unknown as Nullable<C>;

/** Parameters of a statement, or columns of a row, by name. */
export type Columns = Readonly<Record<string, Column<unknown>>>;
type ValueOf<C> = C extends Column<infer T> ? T : never;
/** The row (or the parameters) that a set of columns describes. */
export type RowOf<C extends Columns> = { -readonly [K in keyof C]: ValueOf<C[K]> };

/** What the registry keeps of a statement, for the test that compares declarations with PostgreSQL. */
export type Declared = {
  name: string;
  text: string;
  parameters: Columns;
  columns: Columns;
  isOfInstance: boolean;
};

type Declare = <const P extends Columns, const C extends Columns>(
  name: string,
  parameters: P,
  columns: C,
  source: string,
) => (db: Queryable, values: RowOf<P>) => Promise<RowOf<C>[]>;

const registry = new Map<string, Declared>();

/** What has to be so before people are written to, by database. */
const guards = new WeakMap<Database, () => Promise<void>>();

/** Has whoever writes to people over a database wait for something, which throws where it is not so. */
export const guardPeople = (database: Database, guard: () => Promise<void>): void =>
  void guards.set(database, guard);

/** Every statement of the modules loaded so far. */
export const declaredStatements = (): readonly Declared[] => [...registry.values()];

/**
 * Declares a statement and returns the function that runs it: `(db, parameters) => rows`.
 * It runs as a named prepared statement: planned once per connection.
 * @param name unique in the service; PostgreSQL knows the prepared statement by it.
 * @param parameters every `$name` of the text and its type.
 * @param columns every column of the result and its type; `{}` for none.
 */
export const statement: Declare = (name, parameters, columns, source) =>
  declare(name, parameters, columns, source, false);

/**
 * The same of what asks for nothing of a cell: asked over a cell on another server it runs on the first database, beside the
 * transaction that is open in the cell, and is committed before it (docs/decisions/0078-cells.md).
 */
export const ofInstance: Declare = (name, parameters, columns, source) =>
  declare(name, parameters, columns, source, true);

function declare<const P extends Columns, const C extends Columns>(
  name: string,
  parameters: P,
  columns: C,
  source: string,
  isOfInstance: boolean,
): (db: Queryable, values: RowOf<P>) => Promise<RowOf<C>[]> {
  if (registry.has(name)) throw new Error(`two statements are named ${name}`);
  const names = Object.keys(parameters);
  const positions = new Map(names.map((name, index) => [name, index + 1]));
  const text = source.replace(/\$([a-z_]+)/g, (_, parameter: string) => {
    const position = positions.get(parameter);
    if (position === undefined)
      throw new Error(`statement ${name} uses the undeclared parameter $${parameter}`);
    return `$${position}::${parameters[parameter]!.pg}`;
  });
  registry.set(name, { name, text, parameters, columns, isOfInstance });
  const readers = Object.entries(columns).flatMap(([column, { read }]) =>
    read ? [[column, read] as const] : [],
  );
  const writesPeople = /\b(?:update|insert into|delete from) users\b/.test(source);
  return async (db, values) => {
    const given: Record<string, unknown> = values;
    const place = isOfInstance ? homeOf(db) : db;
    if (writesPeople) await guards.get(databaseOf(place))?.();
    try {
      const result = await place.query({ name, text, values: names.map((key) => given[key]) });
      const rows = result.rows as Record<string, unknown>[];
      for (const [column, read] of readers)
        for (const row of rows) if (row[column] !== null) row[column] = read(row[column]);
      return rows as RowOf<C>[];
    } catch (error) {
      noteFullDisk(place, error);
      throw error;
    }
  };
}

/**
 * A moment and an interval later, as SQL. To PostgreSQL their plain sum depends on the session's time zone, and Citus takes
 * nothing that depends on a session where a row is changed (docs/decisions/0078-cells.md).
 */
export const plus = (moment: string, interval: string): string =>
  `((${moment} at time zone 'UTC' + ${interval}) at time zone 'UTC')`;

/** `updated_at` of a row that is changed at $now: never that of the change before, so that each has a tag of its own. */
export const laterThan = (updatedAt: string): string =>
  `greatest($now, ${plus(updatedAt, "interval '1 ms'")})`;

/**
 * Ends the FROM of an insert that reads only what parts of its statement found. It finds nothing and costs nothing, but with a table to
 * read Citus knows where that is needed: else it sends what they found to every node, and fails where one is lost.
 */
export const here = 'left join (select 1 from workspaces limit 0) as here on true';

/** The only row, or undefined. For statements whose key allows one row at most. */
export const only = <Row>(rows: readonly Row[]): Row | undefined => rows[0];

/** The same where there has to be one. @throws ApiError not_found. */
export function requireRow<Row>(rows: readonly Row[]): Row {
  const row = only(rows);
  if (row === undefined) throw new ApiError('not_found');
  return row;
}
