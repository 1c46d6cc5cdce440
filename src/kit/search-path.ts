import { escapeIdentifier } from 'pg';
import { statement } from './statement.ts';

/** Returns the schema that a session works in, its search path, and whether the instance there knows cells. */
export const findHome = statement(
  'search_path.find_home',
  '',
  'schema_name path knows_cells:boolean',
  `select current_schema()::text as schema_name, current_setting('search_path') as path,
          to_regclass('cells') is not null as knows_cells`,
);

/** Sets the search path of a transaction, until its end. */
export const setPath = statement(
  'search_path.set',
  'path',
  'path',
  `select set_config('search_path', $path, true) as path`,
);

/** Writes a search path of schemas. */
export const pathOf = (...schemas: readonly string[]): string => schemas.map(escapeIdentifier).join(', ');

/**
 * The schema that has the tables of a session. At a node of a cluster the first schema of the path has views of them,
 * and is named after that one.
 */
export const ownSchema = `to_regnamespace(regexp_replace(quote_ident(current_schema()), '^near_', ''))`;
