import { hash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { ApiError } from './errors.ts';
import { recordFullDatabaseDisk } from './storage.ts';

/**
 * SQL is written as SQL, one statement per query function. A statement names its parameters (`$workspace_id`)
 * and columns. Their types come from a dictionary, from the name (`total:bigint`), or from a `Column`.
 * TypeScript derives its types from them, and `test/statements.test.ts` compares them with PostgreSQL.
 */
export type Queryable = Pool | ClientBase;

/** The PostgreSQL type of a parameter or column, and its TypeScript type. */
export type StatementColumn<T> = {
  readonly pg: string;
  readonly type?: T;
  /** Converts a non-null value of the driver. */
  readonly read?: (value: unknown) => T;
};

/** The parameters or columns of a statement, by name. */
export type Columns = Readonly<Record<string, StatementColumn<unknown>>>;

export const uuid: StatementColumn<string> = { pg: 'uuid' };
export const text: StatementColumn<string> = { pg: 'text' };
export const integer: StatementColumn<number> = { pg: 'integer' };
export const smallint: StatementColumn<number> = { pg: 'smallint' };
/** Counts and sizes are below 2^53 here, so they are numbers (see database.ts). */
export const bigint: StatementColumn<number> = { pg: 'bigint' };
export const double: StatementColumn<number> = { pg: 'double precision' };
export const boolean: StatementColumn<boolean> = { pg: 'boolean' };
export const timestamp: StatementColumn<Date> = { pg: 'timestamp with time zone' };
export const timestamps: StatementColumn<Date[]> = { pg: 'timestamp with time zone[]' };
export const bytes: StatementColumn<Buffer> = { pg: 'bytea' };
export const byteStrings: StatementColumn<Buffer[]> = { pg: 'bytea[]' };
export const texts: StatementColumn<string[]> = { pg: 'text[]' };
export const integers: StatementColumn<number[]> = { pg: 'integer[]' };
export const uuids: StatementColumn<string[]> = { pg: 'uuid[]' };
/** Days as `YYYY-MM-DD`. */
export const dates: StatementColumn<string[]> = { pg: 'date[]' };
/** A JSON column, which arrives parsed. A parameter is an object, which the driver writes as JSON. */
export const json = <T extends object>(): StatementColumn<T> => ({ pg: 'json' });
export const jsonb = <T extends object>(): StatementColumn<T> => ({ pg: 'jsonb' });
/** A parameter that is already JSON text. */
export const jsonText: StatementColumn<string> = { pg: 'json' };
export const jsonPath: StatementColumn<string> = { pg: 'jsonpath' };
export const jsonPaths: StatementColumn<string[]> = { pg: 'jsonpath[]' };
/** A text column with one of a few values. */
export const textEnum = <T extends string>(): StatementColumn<T> => ({ pg: 'text' });
export const nullable = <T>(column: StatementColumn<T>): StatementColumn<T | null> => ({ ...column });

/** The types that can follow a name: `total:bigint`. */
const types = {
  uuid,
  uuids,
  text,
  texts,
  integer,
  integers,
  smallint,
  bigint,
  double,
  boolean,
  timestamp,
  timestamps,
  dates,
  bytes,
  byteStrings,
  jsonText,
  jsonPath,
  jsonPaths,
} as const;

/** The default type of each column or parameter name. */
const usual = {
  uuid: [
    'after api_key_id batch_id below below_id bulk_id change_id delivery_id erasure_id first_id',
    'form_id from_id held_id id key_id lease_token mail_id next_id previous_id reached saved_id',
    'storage_id submission_id thing_id to_id undoes webhook_id workspace_id',
  ],
  uuids: ['change_ids file_ids form_ids ids key_ids submission_ids without workspace_ids'],
  text: [
    'account_id actor_id address address_key agent beginning body changed_by content_type',
    'created_by credential_id day definition description element element_id email error',
    'failed_reason filename form_name identity invited_by json_pattern key_fingerprint label',
    'lane language list_hash message method moved_to name operation option origin password',
    'password_hash path place prefix problem q reason recipient reminder_message',
    'reminder_subject requested_by saved_by schema_name session_id snapshot subject table_name',
    'tag text time_zone traceparent url user_id value workspace',
  ],
  texts: [
    'address_keys addresses cells closed_lanes columns elements hashes header_names keys kinds',
    'labels lanes languages methods names paths tags tags_added tags_removed texts thing_ids',
  ],
  integer: [
    'algorithm audit_days base_version burst created done failures height keep limit line',
    'lost_below lost_claims most rate_limit refused revision skipped step version width',
  ],
  integers: ['remind_after_days statuses'],
  bigint: [
    'bytes completed count failed last last_value offset recovery_codes retrying sign_count',
    'size submission_count success total',
  ],
  double: ['delay lease_seconds look_back operator_days seconds'],
  boolean: [
    'active has_files is_confirmed is_live is_mailed is_new is_open is_there is_trashed is_used',
    'pauses_on_failure second_factor second_factor_required',
  ],
  timestamp: [
    'again at before begun_at changed_at completed_at created_at due_at ends_at expires_at',
    'finished_at former_until kept_from last_used_at moved_at now occurred_at oldest',
    'published_at revoked_at saved_at swept_at updated_at',
  ],
  timestamps: ['times unchanged'],
  dates: ['days'],
  bytes: [
    'announcement answer asked content fingerprint hash headers key_digest public_key secret',
    'token_hash',
  ],
  jsonText: ['problems'],
} as const;

type Types = typeof types;
type Split<S extends string> = S extends `${infer Head} ${infer Tail}` ? Head | Split<Tail> : S;
type Dictionary = { [T in keyof typeof usual as Split<(typeof usual)[T][number]>]: Types[T] };

type NameOf<Token> = Token extends `${infer Rest}?`
  ? NameOf<Rest>
  : Token extends `${infer Name}:${string}`
    ? Name
    : Token;
/** The type of a name without a type, which matches nothing. Loading the statement throws. */
type Untyped<Token> = StatementColumn<{ readonly hasNoType: Token }>;
type ColumnOf<Token> = Token extends `${infer Rest}?`
  ? ColumnOf<Rest> extends StatementColumn<infer T>
    ? StatementColumn<T | null>
    : never
  : Token extends `${string}:${infer Type}`
    ? Type extends keyof Types
      ? Types[Type]
      : Untyped<Token>
    : Token extends keyof Dictionary
      ? Dictionary[Token]
      : Untyped<Token>;
type Named<S extends string> = S extends ''
  ? {}
  : { readonly [Token in Split<S> as NameOf<Token> & string]: ColumnOf<Token> };

/**
 * Columns by name: `'workspace_id id completed_at? total:integer'`. A name has its default type, or the one
 * after the colon; `?` makes it nullable.
 */
export type ColumnList = string | Columns;
/** One list, or several that are merged. */
export type ColumnLists = ColumnList | readonly ColumnList[];

type ListColumns<L> = L extends string ? Named<L> : L extends Columns ? L : never;
export type ColumnsOf<L> = L extends readonly [infer Head, ...infer Tail]
  ? ListColumns<Head> & ColumnsOf<Tail>
  : L extends readonly []
    ? {}
    : ListColumns<L>;

const dictionary = new Map<string, StatementColumn<unknown>>(
  Object.entries(usual).flatMap(([type, lines]) =>
    lines.flatMap((line) => line.split(' ').map((name) => [name, types[type as keyof Types]] as const)),
  ),
);

function readNames(names: string): Columns {
  const tokens = names === '' ? [] : names.split(' ');
  return Object.fromEntries(
    tokens.map((token) => {
      const [name, type] = token.replace('?', '').split(':') as [string, keyof Types | undefined];
      const column = type === undefined ? dictionary.get(name) : types[type];
      if (column === undefined) throw new Error(`The column ${token} has no type.`);
      return [name, column];
    }),
  );
}

/** Merges the columns of these lists into an object. */
export function columns<const L extends readonly ColumnList[]>(...lists: L): ColumnsOf<L> {
  return Object.assign({}, ...lists.map((list) => (typeof list === 'string' ? readNames(list) : list)));
}

const readLists = (lists: ColumnLists): Columns => columns(...[lists].flat());

type Nullable<C> = {
  [Name in keyof C]: C[Name] extends StatementColumn<infer Value> ? StatementColumn<Value | null> : never;
};
/** Makes the columns of a row nullable, as after a left join. */
export const nullableColumns = <C extends Columns>(columns: C): Nullable<C> =>
  columns as unknown as Nullable<C>;

type ValueOf<C> = C extends StatementColumn<infer T> ? T : never;
/** The row (or the parameters) of a set of columns. */
export type RowOf<C> = { -readonly [K in keyof C]: ValueOf<C[K]> };

/** A registered statement, for the test that compares declarations with PostgreSQL. Its name is its hash. */
export type DeclaredStatement = { name: string; text: string; parameters: Columns; columns: Columns };

const registry = new Map<string, DeclaredStatement>();

/** Returns every statement of the loaded modules. */
export const declaredStatements = (): readonly DeclaredStatement[] => [...registry.values()];

type RunStatement<P, C> = (db: Queryable, values: RowOf<ColumnsOf<P>>) => Promise<RowOf<ColumnsOf<C>>[]>;

/**
 * Declares a statement, whose SQL follows as a template, and returns the function that runs it:
 * `(db, parameters) => rows`. It runs as a named prepared statement, planned once per connection.
 * @param parameterLists every `$name` of the text.
 * @param columnLists every column of the result; `''` for none.
 */
export const statement =
  <const P extends ColumnLists, const C extends ColumnLists>(parameterLists: P, columnLists: C) =>
  (texts: readonly string[], ...parts: readonly (string | number)[]): RunStatement<P, C> =>
    declareStatement(
      readLists(parameterLists),
      readLists(columnLists),
      String.raw({ raw: texts }, ...parts),
    ) as RunStatement<P, C>;

function declareStatement(parameters: Columns, found: Columns, source: string) {
  const names = Object.keys(parameters);
  const positions = new Map(names.map((name, index) => [name, index + 1]));
  const text = source.trim().replace(/\$([a-z_]+)/g, (_, parameter: string) => {
    const position = positions.get(parameter);
    if (position === undefined)
      throw new Error(`$${parameter} is not declared for this statement: ${source}`);
    return `$${position}::${parameters[parameter]!.pg}`;
  });
  const name = hash('sha1', text);
  registry.set(name, { name, text, parameters, columns: found });
  const readers = Object.entries(found).flatMap(([column, { read }]) =>
    read ? [[column, read] as const] : [],
  );
  return async (db: Queryable, values: object) => {
    const given = values as Record<string, unknown>;
    try {
      const result = await db.query({ name, text, values: names.map((key) => given[key]) });
      const rows = result.rows as Record<string, unknown>[];
      for (const [column, read] of readers)
        for (const row of rows) if (row[column] !== null) row[column] = read(row[column]);
      return rows;
    } catch (error) {
      recordFullDatabaseDisk(db, error);
      throw error;
    }
  };
}

/** Returns the only row, or undefined. For statements that return at most one row. */
export const onlyRow = <Row>(rows: readonly Row[]): Row | undefined => rows[0];

/** Returns the only row. @throws ApiError not_found if there is none. */
export function requireRow<Row>(rows: readonly Row[]): Row {
  const row = onlyRow(rows);
  if (row === undefined) throw new ApiError('not_found');
  return row;
}
