import { join, resolve } from 'node:path';
import { domainToASCII } from 'node:url';
import { Cron, CronPattern } from 'croner';

/** Reads a whole number from the environment, within bounds. */
type ReadNumber = (name: string, fallback: number, least: number, most: number) => number;

const megabyte = 1024 * 1024;

/** Reads the limits for visitors and members, or their defaults. 0 means no limit, except for `freeBytes`. */
export function readLimitsConfig(wholeNumber: ReadNumber) {
  const limit = (name: string, fallback: number): number => wholeNumber(name, fallback, 0, 1_000_000_000);
  const fileMb = wholeNumber('UPLOAD_MAX_FILE_MB', 10, 1, 5_000);
  return {
    /** Submits per minute: from one address to all forms, to one form, and to all forms of a workspace. */
    submitsPerAddress: limit('SUBMITS_PER_ADDRESS', 600),
    submitsPerForm: limit('SUBMITS_PER_FORM', 6_000),
    submitsPerWorkspace: limit('SUBMITS_PER_WORKSPACE', 12_000),
    /** The maximum size of one file. */
    fileBytes: fileMb * megabyte,
    /** MB of files: uploaded from one address per day, stored for one form, and stored for one workspace. */
    uploadMbPerAddress: limit('UPLOAD_MB_PER_ADDRESS', Math.max(2_000, 2 * fileMb)),
    uploadMbPerForm: limit('UPLOAD_MB_PER_FORM', 20_000),
    uploadMbPerWorkspace: limit('UPLOAD_MB_PER_WORKSPACE', 50_000),
    /** Free space to keep on the upload disk: enough for the largest upload and concurrent writes. */
    freeBytes: wholeNumber('UPLOAD_FREE_MB', 512, 16, 1_000_000_000) * megabyte,
    /** Invitations to forms per day: by one member, and in one workspace. */
    invitationsPerPerson: limit('INVITATIONS_PER_PERSON', 20_000),
    invitationsPerWorkspace: limit('INVITATIONS_PER_WORKSPACE', 50_000),
    /** Console requests per minute and person. An IP address may send four times as many. */
    consolePerMinute: limit('CONSOLE_PER_MINUTE', 600),
  };
}

export type LimitsConfig = ReturnType<typeof readLimitsConfig>;

export type BackupConfig = {
  /** A cron expression in UTC. */
  schedule: string;
  keep: number;
  /** The absolute path of a folder; undefined: the object storage. */
  to: string | undefined;
  /** Encrypts the backups. */
  passphrase: string | undefined;
  /** Whether the backup contains the instance key. */
  hasKey: boolean;
};

/** Reads the settings of scheduled backups and adds any errors to `problems`. */
export function readBackupConfig(
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
  // `restore` reads only the first line of a passphrase file, and age prompts for one line.
  if (passphrase?.includes('\n')) problems.push('BACKUP_PASSPHRASE must be one line.');
  if (schedule === undefined) return undefined;
  try {
    requireMoments(schedule);
  } catch (error) {
    problems.push(
      `BACKUP_SCHEDULE is "${schedule}", but it must be a cron expression, such as "0 3 * * *" for 03:00 UTC every night (${(error as Error).message}).`,
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

/** @throws Error if the schedule is invalid or never occurs, such as on February 31. */
function requireMoments(schedule: string): void {
  void new CronPattern(schedule);
  try {
    // Uses the method that the backup scheduler uses.
    if (new Cron(schedule, { timezone: 'UTC', paused: true }).previousRuns(1).length > 0) return;
  } catch {
    // Cron throws if it finds no occurrence within its range.
  }
  throw new Error('it never comes');
}

/** An OpenID Connect provider for signing in. */
export type IdentityProviderConfig = {
  /** The base URL of its discovery document. */
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  /** The provider's name on the sign-in button. */
  name: string;
  /** The email domains that may sign in, in lowercase. */
  domains: readonly string[];
  /** Whether to trust email addresses if the provider does not say whether they are verified. */
  trustsEmail: boolean;
  roleClaim: string;
  /** The workspace and role that a value of the claim grants. */
  roles: readonly { value: string; workspaceId: string; role: string }[];
};

const domain = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;
const rule =
  /^(?<value>[^=]+)=(?<workspaceId>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(?<role>admin|editor|viewer)$/;

/** Reads the settings of the OpenID provider and adds any errors to `problems`. */
export function readIdentityProviderConfig(
  value: (name: string) => string | undefined,
  list: (name: string) => string[],
  problems: string[],
): IdentityProviderConfig | undefined {
  const issuer = value('OIDC_ISSUER');
  if (issuer === undefined) return undefined;
  const url = URL.parse(issuer);
  const isLocal = url?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  if (url?.protocol !== 'https:' && !isLocal)
    problems.push(`OIDC_ISSUER is "${issuer}", but it must be a URL that begins with https://.`);
  const clientId = value('OIDC_CLIENT_ID');
  if (clientId === undefined) problems.push('OIDC_ISSUER is set, so OIDC_CLIENT_ID must also be set.');
  const domains = list('OIDC_DOMAINS').map((name) => domainToASCII(name));
  if (domains.length === 0 || !domains.every((name) => domain.test(name)))
    problems.push(
      'OIDC_DOMAINS must list the email domains that OIDC_ISSUER may sign in, such as example.org,example.com.',
    );
  const roles = list('OIDC_ROLES').flatMap((text) => {
    const { value: given, workspaceId, role } = rule.exec(text)?.groups ?? {};
    if (given !== undefined && workspaceId !== undefined && role !== undefined)
      return [{ value: given, workspaceId, role }];
    problems.push(
      `OIDC_ROLES has "${text}", but each of its parts must be <value>=<workspace id>:<admin, editor or viewer>.`,
    );
    return [];
  });
  return {
    issuer,
    clientId: clientId ?? '',
    clientSecret: value('OIDC_CLIENT_SECRET'),
    name: value('OIDC_NAME') ?? 'your organization',
    domains,
    trustsEmail: value('OIDC_TRUST_EMAIL') === 'true',
    roleClaim: value('OIDC_ROLE_CLAIM') ?? 'groups',
    roles,
  };
}

/** Where metrics can be read: on a separate address, or on the port of the service with a token. */
export type MetricsConfig = { listen: { host: string; port: number } | undefined; token: string | undefined };

/** A shorter token could be guessed, because the port of the service is public. */
const shortestToken = 16;

/** Reads the settings of metrics and adds any errors to `problems`. */
export function readMetricsConfig(
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
