/** How to run one SQL statement. */
type Query = <Row extends object>(sql: string) => Promise<Row[]>;

/** Our schemas: not PostgreSQL's, and not those of temporary tables. */
const ours = `n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`;

/** One line of text for each object of the catalogue: the SQL statement that makes it, as PostgreSQL prints it. */
const lines: readonly string[] = [
  `select format('table %s.%s %s %s', n.nspname, c.relname,
     case c.relkind when 'p' then 'partitioned by ' || pg_get_partkeydef(c.oid) when 'v' then 'view' end,
     array_to_string(c.reloptions, ', ')) as line
   from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'v') and not c.relispartition and ${ours}`,
  `select format('column %s.%s %s %s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
     case when a.attnotnull then 'not null ' end,
     case a.attgenerated when 's' then 'generated as ' when '' then 'default ' end
       || pg_get_expr(d.adbin, d.adrelid),
     case when a.attidentity <> '' then 'identity' end) as line
   from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
   left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p', 'v') and not c.relispartition and ${ours}`,
  `select format('constraint %s.%s %s', c.relname, k.conname, pg_get_constraintdef(k.oid)) as line
   from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
   where k.contype <> 'n' and not c.relispartition and ${ours}`,
  `select 'index ' || pg_get_indexdef(i.indexrelid) as line
   from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
   where not c.relispartition and ${ours}`,
  `select format('trigger %s %s', c.relname, pg_get_triggerdef(t.oid)) as line
   from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
   where not t.tgisinternal and not c.relispartition and ${ours}`,
  `select pg_get_functiondef(p.oid) as line
   from pg_proc p join pg_namespace n on n.oid = p.pronamespace
   where p.prokind in ('f', 'p') and ${ours}
     and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
  `select format('type %s %s', t.typname, (select string_agg(enumlabel, ', ' order by enumsortorder)
     from pg_enum where enumtypid = t.oid)) as line
   from pg_type t join pg_namespace n on n.oid = t.typnamespace where t.typtype in ('e', 'd') and ${ours}`,
  `select format('sequence %s', c.relname) as line
   from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'S' and ${ours}`,
  `select format('statistics %s', pg_get_statisticsobjdef(s.oid)) as line
   from pg_statistic_ext s join pg_namespace n on n.oid = s.stxnamespace where ${ours}`,
  `select format('extension %s', extname) as line from pg_extension`,
];

/**
 * Lists everything in the catalogue of a database: tables, columns with types and defaults, constraints, indexes, triggers,
 * functions, types, sequences and extensions, sorted. Partitions are left out: their names contain dates.
 */
export async function readCatalogue(query: Query): Promise<string> {
  const found: string[] = [];
  for (const sql of lines) {
    const rows = await query<{ line: string }>(sql);
    found.push(...rows.map(({ line }) => line.trimEnd()).toSorted());
  }
  return `${found.join('\n')}\n`;
}
