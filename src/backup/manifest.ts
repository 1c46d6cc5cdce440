import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/schema';
import { BackupError } from './backup-error.ts';

const Table = Type.Object({ name: Type.String(), columns: Type.Array(Type.String()) });

/** The first entry: what the archive was made of, and with. */
export const Manifest = Type.Object({
  format: Type.Literal(1),
  /** Of Formloom. */
  version: Type.String(),
  made_at: Type.String({ format: 'date-time' }),
  /** Those that the database had, in order. */
  migrations: Type.Array(Type.Object({ number: Type.Integer(), checksum: Type.String() })),
  /** Of the key that the database is used with, whether it is inside or not; null: with none yet. */
  key_fingerprint: Type.Union([Type.String(), Type.Null()]),
  tables: Type.Array(Table),
  /** The cells beside the first: their tables are called `schema.table`. */
  /** The one workspace of a backup of a workspace. */
  workspace: Type.Optional(
    Type.Object({ id: Type.String({ pattern: '^[0-9a-f-]{36}$' }), name: Type.String() }),
  ),
  cells: Type.Optional(Type.Array(Type.Object({ name: Type.String(), schema_name: Type.String() }))),
});
export type Manifest = Static<typeof Manifest>;

/** The last entry: without it an archive is not whole. */
export const Ending = Type.Object({
  /** Of each table. */
  rows: Type.Record(Type.String(), Type.Integer()),
  sequences: Type.Array(
    Type.Object({ name: Type.String(), last_value: Type.Union([Type.Integer(), Type.Null()]) }),
  ),
  files: Type.Integer(),
  bytes: Type.Integer(),
});
export type Ending = Static<typeof Ending>;

/** The names of the entries; `tables/<table>/<part>` and `files/<key>` beside them. */
export const entryNames = { manifest: 'manifest.json', key: 'secret.key', ending: 'ending.json' } as const;

/** @throws BackupError for what is not as this version writes it. */
export function readPart<S extends typeof Manifest | typeof Ending>(shape: S, text: string): Static<S> {
  let part: unknown;
  try {
    part = JSON.parse(text);
  } catch {
    part = undefined;
  }
  // By what checks requests, which is loaded already: the package's other way takes 140 files more at each start.
  if (Compile(shape).Check(part)) return part;
  throw new BackupError('This is no backup that this version of Formloom can read.');
}
