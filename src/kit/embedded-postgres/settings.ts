/** What the embedded server runs with, unless the caller of startEmbeddedPostgres says otherwise. */
const tuning: Record<string, string> = {
  shared_buffers: '128MB',
  max_connections: '60',
  // Submissions are inserted far more than changed: keep visibility maps and GIN pending lists fresh (default 0.2).
  autovacuum_vacuum_insert_scale_factor: '0.02',
  // ANALYZE holds 300 rows for each of these: of submissions 62 MB and 1 s of CPU at the default of 100, now and then, on top of all
  // else. Plans are made without values (kit/database.ts), so what common values it finds would hardly be asked.
  default_statistics_target: '25',
  // Compiling costs more than our short statements ever win back.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  // Failed statements are reported by Formloom; the server's log keeps to the server, so no answer of a person lands there.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  cluster_name: 'formloom',
};

/**
 * What "nothing acknowledged is lost" rests on. Tests may do without what only a loss of power needs; a commit reaches
 * the operating system before it is acknowledged even then, so that they can kill processes and count rows.
 */
function durability(durable: boolean): Record<string, string> {
  const flushed = durable ? 'on' : 'off';
  return { fsync: flushed, full_page_writes: flushed, synchronous_commit: 'on' };
}

/** The port is only the suffix of the socket's name: `.s.PGSQL.5432`. */
export const port = 5432;

/**
 * The settings as arguments of the `postgres` program, which outrank postgresql.conf and ALTER SYSTEM: one table in
 * the code says what runs, also after an upgrade of Formloom. Reachability and durability cannot be overridden.
 */
export function serverArguments(server: {
  directory: string;
  socketDirectory: string;
  durable: boolean;
  settings: Record<string, string>;
}): string[] {
  const fixed: Record<string, string> = {
    listen_addresses: '',
    port: String(port),
    unix_socket_directories: quoteListItem(server.socketDirectory),
    unix_socket_permissions: '0700',
    ...durability(server.durable),
  };
  const all = { ...tuning, ...server.settings, ...fixed };
  return [
    '-D',
    server.directory,
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/** unix_socket_directories is a comma-separated list; a double-quoted item may hold commas and spaces. */
function quoteListItem(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}
