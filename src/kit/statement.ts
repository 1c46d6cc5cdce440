import type { ClientBase, Pool } from 'pg';
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
};

const registry = new Map<string, Declared>();

/** Every statement of the modules loaded so far. */
export const declaredStatements = (): readonly Declared[] => [...registry.values()];

/**
 * Declares a statement and returns the function that runs it: `(db, parameters) => rows`.
 * It runs as a named prepared statement: planned once per connection.
 * @param name unique in the service; PostgreSQL knows the prepared statement by it.
 * @param parameters every `$name` of the text and its type.
 * @param columns every column of the result and its type; `{}` for none.
 */
export function statement<const P extends Columns, const C extends Columns>(
  name: string,
  parameters: P,
  columns: C,
  source: string,
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
  registry.set(name, { name, text, parameters, columns });
  const readers = Object.entries(columns).flatMap(([column, { read }]) =>
    read ? [[column, read] as const] : [],
  );
  return async (db, values) => {
    const given: Record<string, unknown> = values;
    try {
      const result = await db.query({ name, text, values: names.map((key) => given[key]) });
      const rows = result.rows as Record<string, unknown>[];
      for (const [column, read] of readers)
        for (const row of rows) if (row[column] !== null) row[column] = read(row[column]);
      return rows as RowOf<C>[];
    } catch (error) {
      noteFullDisk(db, error);
      throw error;
    }
  };
}

/** The only row, or undefined. For statements whose key allows one row at most. */
export const only = <Row>(rows: readonly Row[]): Row | undefined => rows[0];

/** The same where there has to be one. @throws ApiError not_found. */
export function requireRow<Row>(rows: readonly Row[]): Row {
  const row = only(rows);
  if (row === undefined) throw new ApiError('not_found');
  return row;
}
