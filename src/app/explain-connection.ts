import { isDiskFull, isUnavailable } from '#kit/database.ts';

type Failure = Error & { code?: string };

/** Errors of connections to the database that nothing else classifies: a server that is no PostgreSQL, say. */
const failed = new WeakSet<Error>();

/** Marks what an attempt to connect to the database throws, so that it is explained as that. */
export async function connectOrExplain(connect: () => Promise<void>): Promise<void> {
  try {
    await connect();
  } catch (error) {
    if (error instanceof Error) failed.add(error);
    throw error;
  }
}

const remedies: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  [/^28P01 /, 'Correct the user name or the password in DATABASE_URL.'],
  [/^28000 /, 'Correct the user name in DATABASE_URL, or let this user connect in pg_hba.conf.'],
  [/^3D000 /, 'Create this database (`createdb`), or correct its name in DATABASE_URL.'],
  [/does not support SSL/, 'Turn TLS on at the server, or remove sslmode from DATABASE_URL (and PGSSLMODE).'],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|certificate/,
    'Name the certificate of its authority in DATABASE_URL (sslrootcert=/path/ca.pem), and use a host name that the certificate has.',
  ],
  [/^(ENOTFOUND|EAI_AGAIN) /, 'Correct the host name in DATABASE_URL, or the name servers of this machine.'],
  [/^EACCES /, 'Let the user that runs Formloom use this socket, or correct the path in DATABASE_URL.'],
  [/^ENOENT /, 'Start PostgreSQL, or correct the path of its socket in DATABASE_URL.'],
  [
    /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL) |timeout/,
    'Start PostgreSQL there, or correct the host and the port in DATABASE_URL.',
  ],
];

/** An attempt at several addresses of a name has no message of its own. */
const messageOf = (error: Error): string =>
  error instanceof AggregateError
    ? error.errors.map((each: unknown) => (each instanceof Error ? each.message : String(each))).join('; ')
    : error.message;

/** Why the database cannot be used, and what to do, in one line; undefined when the error is about something else. */
export function explainConnection(error: Error): string | undefined {
  if (isDiskFull(error)) return undefined;
  const { code = '' } = error as Failure;
  const isRefusal = /^(28|3D)...$/.test(code);
  if (!isRefusal && !isUnavailable(error) && !failed.has(error)) return undefined;
  const message = messageOf(error);
  const remedy = remedies.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1];
  const what = isRefusal ? 'The database refuses the connection' : 'The database does not answer';
  return `${what}: ${message}.${remedy === undefined ? ' Correct DATABASE_URL, or what answers there.' : ` ${remedy}`}`;
}
