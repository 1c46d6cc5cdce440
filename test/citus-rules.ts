/*
 * What Citus refuses, or gets wrong, where a row is written or several cells are read (docs/decisions/0078-cells.md): a reading of the text, so that
 * it is known without a cluster. `npm run test:cells` asks a cluster.
 */

/** What the rules need to know of a database: names of functions, and of tables. */
export type Known = {
  /** Functions that always give the same for the same have other names than these, whatever their parameters. */
  changing: readonly string[];
  /** Of these, what gives something else each time it is asked within a statement. */
  volatile: readonly string[];
  tables: readonly string[];
  /** Those of cells. */
  tenant: readonly string[];
};

/** The part of a text up to the parenthesis that closes around it, or to its end. */
function untilClosed(text: string): string {
  let depth = 0;
  for (const { 0: sign, index } of text.matchAll(/[()]/g)) {
    depth += sign === '(' ? 1 : -1;
    if (depth < 0) return text.slice(0, index);
  }
  return text;
}

/** Every part that matches, from there to where it ends. */
const partsFrom = (text: string, beginning: RegExp): string[] =>
  [...text.matchAll(beginning)].map(({ index, 0: { length } }) => untilClosed(text.slice(index + length)));

/** A text without what stands in parentheses within it. */
function outermost(text: string): string {
  const emptied = text.replaceAll(/\((?!\))[^()]*\)/g, '()');
  return emptied === text ? text : outermost(emptied);
}

const locks = /\bfor (?:no key update|update|key share|share)\b/;

/** What stands in a CASE or COALESCE. A CASE that holds another is looked at up to the end of the inner one. */
const conditionalParts = (text: string): string[] => [
  ...partsFrom(text, /\bcoalesce\(/g),
  ...[...text.matchAll(/\bcase\b.*?\bend\b/gs)].map(([part]) => part),
];

const calls = (part: string, functions: readonly string[]): string[] =>
  [...part.matchAll(/\b([a-z_]+)\(/g)].flatMap(([, name]) => (functions.includes(name!) ? [name!] : []));
const reads = (part: string, tables: readonly string[]): boolean =>
  [...part.matchAll(/\b(?:from|join)\s+([a-z_]+)\b/g)].some(([, name]) => tables.includes(name!));
/** Whether an insert reads what parts of its statement found, and no table that says where that is needed. */
const readsPartsAlone = (part: string, text: string, tables: readonly string[]): boolean =>
  !reads(part, tables) &&
  [...part.matchAll(/\b(?:from|join)\s+([a-z_]+)\b/g)].some(([, name]) =>
    new RegExp(`\\b${name} as (?:materialized )?\\(`).test(text),
  );
/** Whether a part of a statement joins what it is given, or what other parts found, other than as an array. */
const joinsNoTable = (part: string, text: string): boolean =>
  [...part.replaceAll(/\barray\([^()]*\)/g, '').matchAll(/\b(?:from|join)\s+([a-z_]+)\b/g)].some(
    ([, name]) => name === 'unnest' || new RegExp(`\\b${name} as (?:materialized )?\\(`).test(text),
  );
/** A text that becomes what depends on the session's settings. */
const changingCast = /[a-z_)]::(?:date|regconfig|timestamptz)\b/;
/** The sum of a column and an interval; `plus` of kit/statement.ts has the one that changes with nothing. */
const datedSum =
  /(?:\b[a-z_.]*(?:_at|_until|_since)|\bgreatest\([^()]*\))\s*[+-]\s*(?:interval\b|make_interval\(|\()/;

/** Why Citus would not run a statement on a schema that it distributes; empty when nothing is seen. */
export function citusProblems(source: string, { changing, volatile, tables, tenant }: Known): string[] {
  const text = source.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/'[^']*'/g, "''");
  const inserts = partsFrom(text, /\binsert into\b/g);
  const updates = partsFrom(text, /(?<!for |key |do )\bupdate(?= [a-z_]+(?: as)?(?: [a-z]+)?\s+set\b)/g);
  const writes = [...inserts, ...updates, ...partsFrom(text, /\bdelete from\b/g)];
  const found = (what: string, parts: readonly string[], names: readonly string[]): string[] =>
    parts.flatMap((part) => calls(part, names).map((name) => `${name}() ${what}`));
  const locked = text
    .split(/\bas (?:materialized )?\(/)
    .filter((part) => /\bfor (?:no key )?update\b/.test(part));
  return [
    ...found('where a row is written', writes, volatile),
    ...found('in CASE or COALESCE of a write', writes.flatMap(conditionalParts), changing),
    ...(writes.length > 0 && /\bcase (?!when\b)/.test(text) ? ['CASE of a value in a write'] : []),
    ...found('in DO UPDATE', partsFrom(text, /\bdo update set\b/g), changing),
    ...found(
      'in RETURNING',
      writes.flatMap((part) => partsFrom(part, /\breturning\b/g)),
      changing,
    ),
    ...updates
      .filter((part) => datedSum.test(part))
      .map(() => 'a column and an interval are added in an UPDATE'),
    ...inserts
      .filter((part) => reads(part, tables) && (calls(part, changing).length > 0 || changingCast.test(part)))
      .map(() => 'an insert that reads a table asks for what changes'),
    ...inserts
      .filter(
        (part) =>
          writes.length > 1 && tenant.includes(/\w+/.exec(part)![0]) && readsPartsAlone(part, text, tables),
      )
      .map(() => 'an insert reads what was found before, and no table (`here`, kit/statement.ts)'),
    ...inserts
      .filter((part) => writes.length > 1 && text.endsWith(part) && reads(part, tables))
      .map(() => 'an insert that reads a table ends a statement that writes before'),
    // The other rows of the join are kept as a whole, and what was found is read in another format than it was written in.
    ...(partsFrom(text, /\bas (?:materialized )?\(/g).some(
      (part) => locks.test(outermost(part)) && joinsNoTable(part, text),
    )
      ? ['rows are locked in a join with what is no table']
      : []),
    ...found('beside rows that are locked', locked, volatile),
    // What Citus keeps aside of several cells it reads again by its columns.
    ...(source.includes('across workspaces */') && /\bfrom \(\s*select from\b/.test(text)
      ? ['a sub-select in FROM without a column']
      : []),
    ...(writes.length > 0 && text.includes('pg_notify(') ? ['pg_notify() in another statement'] : []),
  ];
}
