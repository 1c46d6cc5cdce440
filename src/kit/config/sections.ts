import { join, resolve } from 'node:path';
import { domainToASCII } from 'node:url';
import { Cron, CronPattern } from 'croner';

/** Reads a whole number of the environment, within bounds. */
type ReadNumber = (name: string, fallback: number, least: number, most: number) => number;

const megabyte = 1024 * 1024;

/** What others may cause at most, as an operator set it or as usual; 0 is without a limit, but for `freeBytes`. */
export function readLimits(wholeNumber: ReadNumber) {
  const limit = (name: string, fallback: number): number => wholeNumber(name, fallback, 0, 1_000_000_000);
  return {
    /** Submits in a minute: from one address to all forms, to one form, and to the forms of one workspace. */
    submitsPerAddress: limit('SUBMITS_PER_ADDRESS', 600),
    submitsPerForm: limit('SUBMITS_PER_FORM', 6_000),
    submitsPerWorkspace: limit('SUBMITS_PER_WORKSPACE', 12_000),
    /** MB of files: from one address in a day, stored for one form, and for the forms of one workspace. */
    uploadMbPerAddress: limit('UPLOAD_MB_PER_ADDRESS', 2_000),
    uploadMbPerForm: limit('UPLOAD_MB_PER_FORM', 20_000),
    uploadMbPerWorkspace: limit('UPLOAD_MB_PER_WORKSPACE', 50_000),
    /** What stays free on the disk of the uploads: the largest one fits in, and what is written beside it. */
    freeBytes: wholeNumber('UPLOAD_FREE_MB', 512, 16, 1_000_000_000) * megabyte,
    /** People who are invited to forms in a day: by one person, and in one workspace. */
    invitationsPerPerson: limit('INVITATIONS_PER_PERSON', 20_000),
    invitationsPerWorkspace: limit('INVITATIONS_PER_WORKSPACE', 50_000),
    /** Requests of the console in a minute, for each person; an address may send four times as many. */
    consolePerMinute: limit('CONSOLE_PER_MINUTE', 600),
  };
}

export type Limits = ReturnType<typeof readLimits>;

export type BackupConfig = {
  /** When, as cron writes it, in UTC. */
  schedule: string;
  /** How many are kept. */
  keep: number;
  /** A folder, as an absolute path; undefined: the object storage. */
  to: string | undefined;
  /** Seals them. */
  passphrase: string | undefined;
  /** Whether the instance's key is inside. */
  hasKey: boolean;
};

/** The backups that an operator wants, if any; what is wrong with them is put to `problems`. */
export function readBackup(
  value: (name: string) => string | undefined,
  wholeNumber: ReadNumber,
  problems: string[],
): BackupConfig | undefined {
  const schedule = value('BACKUP_SCHEDULE');
  const to = value('BACKUP_TO');
  if (to === 's3' && !value('S3_ENDPOINT')) problems.push('BACKUP_TO is "s3", but S3_ENDPOINT is not set.');
  const keep = wholeNumber('BACKUP_KEEP', 7, 1, 1_000);
  const withoutKey = value('BACKUP_WITHOUT_KEY') ?? 'false';
  if (!['true', 'false'].includes(withoutKey))
    problems.push(`BACKUP_WITHOUT_KEY is "${withoutKey}", but it must be true or false.`);
  const passphrase = value('BACKUP_PASSPHRASE');
  // Of a file `restore` reads the first line, and at age nobody types another one.
  if (passphrase?.includes('\n')) problems.push('BACKUP_PASSPHRASE must be one line.');
  if (schedule === undefined) return undefined;
  try {
    requireMoments(schedule);
  } catch (error) {
    problems.push(
      `BACKUP_SCHEDULE is "${schedule}", but it must be a schedule as cron writes it, such as "0 3 * * *" for 3 o'clock UTC each night (${(error as Error).message}).`,
    );
  }
  return {
    schedule,
    keep,
    to: to === 's3' ? undefined : resolve(to ?? join(value('DATA_DIR') ?? './data', 'backups')),
    passphrase,
    hasKey: withoutKey === 'false',
  };
}

/** @throws Error for what is no schedule, or has no moments, such as on the 31st of February. */
function requireMoments(schedule: string): void {
  void new CronPattern(schedule);
  try {
    // As whoever makes the backups asks.
    if (new Cron(schedule, { timezone: 'UTC', paused: true }).previousRuns(1).length > 0) return;
  } catch {
    // It does not look further back than some months with such days.
  }
  throw new Error('it never comes');
}

/** An OpenID Connect provider that people sign in by. */
export type IdentityProviderConfig = {
  /** Where its discovery document is found. */
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  /** What people call it, for the button. */
  name: string;
  /** Of the addresses that it may sign in, in small letters. */
  domains: readonly string[];
  /** Whether it is believed about an address of which it does not say whether it is confirmed. */
  trustsEmail: boolean;
  roleClaim: string;
  /** What a value of the claim makes of a person: a member of a workspace. */
  roles: readonly { value: string; workspaceId: string; role: string }[];
};

const domain = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;
const rule =
  /^(?<value>[^=]+)=(?<workspaceId>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(?<role>admin|editor|viewer)$/;

/** The provider that an operator names, if any; what is wrong with it is put to `problems`. */
export function readIdentityProvider(
  value: (name: string) => string | undefined,
  list: (name: string) => string[],
  problems: string[],
): IdentityProviderConfig | undefined {
  const issuer = value('OIDC_ISSUER');
  if (issuer === undefined) return undefined;
  const url = URL.parse(issuer);
  const isLocal = url?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  if (url?.protocol !== 'https:' && !isLocal)
    problems.push(`OIDC_ISSUER is "${issuer}", but it must be an address that begins with https://.`);
  const clientId = value('OIDC_CLIENT_ID');
  if (clientId === undefined) problems.push('OIDC_ISSUER is set, so OIDC_CLIENT_ID must be as well.');
  const domains = list('OIDC_DOMAINS').map((name) => domainToASCII(name));
  if (domains.length === 0 || !domains.every((name) => domain.test(name)))
    problems.push(
      'OIDC_DOMAINS must name the domains of the addresses that OIDC_ISSUER may sign in, such as example.org,example.com.',
    );
  const roles = list('OIDC_ROLES').flatMap((text) => {
    const { value: given, workspaceId, role } = rule.exec(text)?.groups ?? {};
    if (given !== undefined && workspaceId !== undefined && role !== undefined)
      return [{ value: given, workspaceId, role }];
    problems.push(
      `OIDC_ROLES has "${text}", but each of its parts must be <value>=<id of a workspace>:<admin, editor or viewer>.`,
    );
    return [];
  });
  return {
    issuer,
    clientId: clientId ?? '',
    clientSecret: value('OIDC_CLIENT_SECRET'),
    name: value('OIDC_NAME') ?? 'your organisation',
    domains,
    trustsEmail: value('OIDC_TRUST_EMAIL') === 'true',
    roleClaim: value('OIDC_ROLE_CLAIM') ?? 'groups',
    roles,
  };
}

/** Who may read metrics: whoever reaches an address of their own, or has a token. */
export type MetricsConfig = { listen: { host: string; port: number } | undefined; token: string | undefined };

/** Short ones could be guessed: the port of the service is open to all. */
const shortestToken = 16;

/** Where the operator wants metrics to be read, if anywhere; what is wrong with that is put to `problems`. */
export function readMetrics(
  value: (name: string) => string | undefined,
  problems: string[],
): MetricsConfig | undefined {
  const token = value('METRICS_TOKEN');
  const address = value('METRICS_LISTEN');
  if (token !== undefined && token.length < shortestToken)
    problems.push(`METRICS_TOKEN must have at least ${shortestToken} characters.`);
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(address ?? '') ?? [];
  if (address !== undefined && !(Number(port) > 0 && Number(port) < 65_536))
    problems.push(
      `METRICS_LISTEN is "${address}", but it must be an address with a port, such as 127.0.0.1:9464.`,
    );
  if (token === undefined && address === undefined) return undefined;
  const listen =
    host === undefined ? undefined : { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
  return { token, listen };
}
