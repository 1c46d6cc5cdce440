import { availableParallelism, networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import {
  type BackupConfig,
  type IdentityProviderConfig,
  type LimitsConfig,
  type MetricsConfig,
  readBackupConfig,
  readIdentityProviderConfig,
  readLimitsConfig,
  readMetricsConfig,
} from './config/sections.ts';
import { splitDatabaseUrl } from './find-host.ts';
import { readMailAddress } from './outbox/address.ts';
import { readSmtp, type SmtpConfig } from './smtp.ts';
import { keysPattern } from './vault.ts';

/** All settings of an operator (docs/rules.md 18). docs/operating/settings.md lists the same names. */
export type Config = {
  /** The address that the server listens on. */
  host: string;
  port: number;
  /** The number of web processes. With 1, this process serves alone, without a primary. */
  webProcesses: number;
  /** The public origin of the service, without a trailing slash. */
  publicUrl: string;
  /** Host names that the service accepts in addition to that of publicUrl. */
  allowedHosts: readonly string[];
  /** The absolute path of the folder with the embedded database, uploads and the instance key. */
  dataDir: string;
  /** Undefined: the embedded PostgreSQL is used. */
  databaseUrl: string | undefined;
  /** Database connections per process. */
  databasePool: number;
  /** Seconds to wait after each failed attempt. Its length is the number of automatic retries. */
  webhookRetryDelays: readonly number[];
  /** The timeout of a request, from connecting to the last byte, in seconds. */
  webhookTimeout: number;
  /** A webhook is paused after this many days in which every delivery failed; 0: never. */
  webhookPauseDays: number;
  /** Days for which the delivery log and events are kept. */
  deliveryRetentionDays: number;
  /** A PEM file of certificate authorities that every TLS connection also trusts (address-guard.ts). */
  caFile: string | undefined;
  /** CIDRs that the address guard allows although they are not public. */
  webhookAllowNetworks: readonly string[];
  /** Paths of font files for characters that the included fonts do not have (#submissions/pdf/fonts.ts). */
  pdfFonts: readonly string[];
  /** Valkey for shared rate limit counters; undefined: the memory of this process. */
  valkeyUrl: string | undefined;
  /** Object storage for uploads; undefined: files under dataDir. */
  s3: { endpoint: string; region: string; accessKeyId: string; secretAccessKey: string } | undefined;
  backup: BackupConfig | undefined;
  metrics: MetricsConfig | undefined;
  /** The mail server and the sender; undefined: no email is sent, and the console says so. */
  smtp: SmtpConfig | undefined;
  /** The address that gets emails about incidents; undefined: incidents are only logged. */
  operatorEmail: string | undefined;
  /** Where to report vulnerabilities, a mailto: or https: URL; undefined: no `security.txt`. */
  securityContact: string | undefined;
  /** The maximum number of emails per minute, over all processes. */
  mailPerMinute: number;
  /** The maximum number of emails to visitors of one form per hour: receipts and links to saved answers. */
  mailToVisitors: number;
  /** Seconds to wait after the mail server defers an email. Its length is the number of retries. */
  mailRetryDelays: readonly number[];
  /** The OpenID provider for single sign-on; undefined: none. */
  identityProvider: IdentityProviderConfig | undefined;
  /** Who may create workspaces in the console: only the operator (by command line), owners, or everyone. */
  workspaceCreation: WorkspaceCreation;
  defaultPlan: PlanName;
  /** Whether each API response is checked against its declaration. A mismatch returns 500. For tests. */
  isReplyChecked: boolean;
  limits: LimitsConfig;
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** How far to trust X-Forwarded-For: a number of proxies or a list of CIDRs; false: not at all. */
  trustProxy: number | string[] | false;
  /** 64 hexadecimal digits; undefined: created at the first start and kept in dataDir. */
  secretKey: string | undefined;
};

/** Invalid settings. The message lists all problems together. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : 'problems'}:\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    );
  }
}

/** The tiers of the specification ("API rate limits"). #workspaces/authenticate.ts has their limits. */
export const planNames = ['free', 'pro', 'business', 'enterprise'] as const;
export type PlanName = (typeof planNames)[number];
const workspaceCreations = ['operator', 'owners', 'everyone'] as const;
export type WorkspaceCreation = (typeof workspaceCreations)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/** Specification, "Delivery and retry rules". Emails use the same delays. */
const defaultRetryDelays = [60, 300, 900, 3_600, 10_800] as const;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * Reads and validates the environment. An empty variable counts as unset.
 * @throws ConfigError with every problem found.
 */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const value = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const complain: Complain = (name, expected, fallback) => {
    // Hides a password in a URL, because the message is logged.
    const shown = value(name)?.replace(/\/\/.*@/s, '//…@');
    problems.push(`${name} is "${shown}", but it must be ${expected}.`);
    return fallback;
  };
  const wholeNumber = (name: string, fallback: number, least: number, most: number): number => {
    const given = value(name);
    if (given === undefined) return fallback;
    const number = /^\d+$/.test(given) ? Number(given) : Number.NaN;
    return number >= least && number <= most
      ? number
      : complain(name, `a whole number from ${least} to ${most}`, fallback);
  };
  const url = (name: string, protocols: readonly string[]): string | undefined => {
    const given = value(name);
    if (given === undefined) return undefined;
    return protocols.includes(URL.parse(given)?.protocol ?? '')
      ? given.replace(/\/+$/, '')
      : complain(name, `a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`, undefined);
  };
  const list = (name: string): string[] =>
    value(name)
      ?.split(',')
      .map((item) => item.trim())
      .filter(Boolean) ?? [];

  const host = value('HOST') ?? '127.0.0.1';
  const port = wholeNumber('PORT', 3000, 1, 65_535);

  const retryDelays = (name: string): readonly number[] => {
    const delays = list(name);
    if (delays.length === 0) return defaultRetryDelays;
    return delays.every((delay) => /^\d{1,7}(\.\d{1,3})?$/.test(delay))
      ? delays.map(Number)
      : complain(name, 'seconds separated by commas, such as 60,300,900', []);
  };

  const webhookAllowNetworks = list('WEBHOOK_ALLOW_NETWORKS').every((network) => ipaddr.isValidCIDR(network))
    ? list('WEBHOOK_ALLOW_NETWORKS')
    : complain('WEBHOOK_ALLOW_NETWORKS', 'networks separated by commas, such as 127.0.0.0/8', []);

  const oneOf = <const Word extends string>(name: string, words: readonly Word[], fallback: Word): Word => {
    const given = value(name) ?? fallback;
    return words.find((word) => word === given) ?? complain(name, `one of ${words.join(', ')}`, fallback);
  };

  const secretKey = value('SECRET_KEY');
  if (secretKey !== undefined && !keysPattern.test(secretKey)) {
    // The message omits the value, which is a secret.
    problems.push(
      'SECRET_KEY must be 64 hexadecimal digits (create it with `openssl rand -hex 32`), optionally followed by up to three previous keys, separated by commas.',
    );
  }

  const webProcesses = readWebProcesses(value('WEB_PROCESSES'), complain);
  const config: Config = {
    host,
    port,
    webProcesses,
    publicUrl: readOrigin(value('PUBLIC_URL'), complain) ?? defaultPublicUrl({ host, port }),
    allowedHosts: list('ALLOWED_HOSTS').every((name) => /^[\w-]+(\.[\w-]+)*$/.test(name))
      ? list('ALLOWED_HOSTS').map((name) => name.toLowerCase())
      : complain(
          'ALLOWED_HOSTS',
          'host names separated by commas, without ports, such as forms.internal',
          [],
        ),
    dataDir: resolve(value('DATA_DIR') ?? './data'),
    databaseUrl: readDatabaseUrl(value('DATABASE_URL'), complain),
    databasePool: wholeNumber(
      'DATABASE_POOL',
      webProcesses === 1 ? aloneConnections : besideConnections,
      2,
      200,
    ),
    webhookRetryDelays: retryDelays('WEBHOOK_RETRY_DELAYS'),
    caFile: value('WEBHOOK_CA_FILE'),
    webhookTimeout: wholeNumber('WEBHOOK_TIMEOUT', 10, 1, 120),
    webhookPauseDays: wholeNumber('WEBHOOK_PAUSE_DAYS', 5, 0, 365),
    deliveryRetentionDays: wholeNumber('DELIVERY_RETENTION_DAYS', 30, 1, 3_650),
    webhookAllowNetworks,
    pdfFonts: list('PDF_FONTS').map((path) => resolve(path)),
    valkeyUrl: url('VALKEY_URL', ['redis:', 'rediss:', 'valkey:']),
    s3: readS3(value, url, problems),
    backup: readBackupConfig(value, wholeNumber, problems),
    metrics: readMetricsConfig(value, problems),
    smtp: readSmtp({ url: value('SMTP_URL'), from: value('MAIL_FROM') }, problems),
    operatorEmail: readOperator(value('OPERATOR_EMAIL'), complain),
    securityContact: readContact(value('SECURITY_CONTACT'), complain),
    mailPerMinute: wholeNumber('MAIL_PER_MINUTE', 300, 10, 60_000),
    mailToVisitors: wholeNumber('MAIL_TO_VISITORS', 200, 1, 1_000_000),
    mailRetryDelays: retryDelays('MAIL_RETRY_DELAYS'),
    identityProvider: readIdentityProviderConfig(value, list, problems),
    workspaceCreation: oneOf('WORKSPACE_CREATION', workspaceCreations, 'owners'),
    defaultPlan: oneOf('DEFAULT_PLAN', planNames, 'enterprise'),
    isReplyChecked: environment['CHECK_REPLIES'] === 'true',
    limits: readLimitsConfig(wholeNumber),
    logLevel: oneOf('LOG_LEVEL', logLevels, 'info'),
    trustProxy: readTrustProxy(value('TRUST_PROXY'), complain),
    secretKey,
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/** Records a problem with a setting and returns the fallback, so that all problems are reported together. */
type Complain = <T>(name: string, expected: string, fallback: T) => T;

const readOperator = (given: string | undefined, complain: Complain): string | undefined =>
  given === undefined || readMailAddress(given)
    ? given
    : complain('OPERATOR_EMAIL', 'an email address', undefined);

/** Reads a contact as RFC 9116 requires it: an https URL, or an email address as a mailto URL. */
function readContact(given: string | undefined, complain: Complain): string | undefined {
  if (given === undefined) return undefined;
  const url = URL.parse(readMailAddress(given) ? `mailto:${given}` : given);
  return url !== null && /^(https|mailto):$/.test(url.protocol)
    ? url.href
    : complain('SECURITY_CONTACT', 'an email address or a URL that begins with https://', undefined);
}

/**
 * Returns the origin of PUBLIC_URL as browsers write it, because cookies depend on the scheme
 * (`HTTPS://Forms.Example`). A path is rejected, because the URLs of pages begin at the root.
 */
function readOrigin(given: string | undefined, complain: Complain): string | undefined {
  if (given === undefined) return undefined;
  const url = URL.parse(given);
  const isOrigin = url !== null && `${url.origin}/` === url.href && /^https?:$/.test(url.protocol);
  const expected =
    'a URL that begins with http:// or https://, without a path (give the service its own host name, such as https://forms.example.com)';
  return isOrigin ? url.origin : complain('PUBLIC_URL', expected, undefined);
}

/** Returns whether HOST means every address of this machine. Other machines cannot connect to it. */
export const isWildcardHost = (host: string): boolean =>
  ipaddr.isValid(host) && ipaddr.parse(host).range() === 'unspecified';

/**
 * Returns a host for links. If HOST means every address, this is the first one that other machines can reach,
 * or the loopback address if there is none.
 */
function reachableName(host: string): string {
  if (!isWildcardHost(host)) return host;
  const outside = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, family, scopeid }) => !internal && (family === 'IPv4' || scopeid === 0));
  const chosen = outside.find(({ family }) => family === 'IPv4') ?? outside[0];
  return chosen?.address ?? '127.0.0.1';
}

/** Returns the public URL of the service if PUBLIC_URL is not set. */
export function defaultPublicUrl({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const name = reachableName(host);
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/**
 * Reads DATABASE_URL in the forms of libpq: with several hosts, or with a socket directory as its host or in
 * `host=`. An unencoded character in a user name or password can end the part before the host, so that case
 * has its own advice.
 */
function readDatabaseUrl(given: string | undefined, complain: Complain): string | undefined {
  if (given === undefined) return undefined;
  const expected = 'a URL that begins with postgres:// or postgresql://';
  if (!/^postgres(ql)?:\/\//.test(given)) return complain('DATABASE_URL', expected, undefined);
  const isReadable = splitDatabaseUrl(given).every((each) => isDecodable(each));
  const [, authority = '', rest = ''] = /^\w+:\/\/([^/?#]*)(.*)$/s.exec(given) ?? [];
  // After an `=`, the @ is part of a parameter's value.
  const isCutOff = !authority.includes('@') && authority.includes(':') && /^[^=]*@/s.test(rest);
  if (isReadable && !(isCutOff && /^([?#]|.*@[^/]*\/)/s.test(rest))) return given.replace(/\/+$/, '');
  return isCutOff || authority.includes('@')
    ? complain(
        'DATABASE_URL',
        `${expected}, with its user name and password percent-encoded (@ is %40, : is %3A, / is %2F, # is %23, ? is %3F, % is %25)`,
        undefined,
      )
    : complain('DATABASE_URL', expected, undefined);
}

function isDecodable(address: string): boolean {
  const url = URL.parse(address);
  try {
    return (
      url !== null &&
      [url.username, url.password, url.hostname, url.pathname].every(
        (part) => decodeURIComponent(part) !== undefined,
      )
    );
  } catch {
    // The percent-encoding is malformed.
    return false;
  }
}

/** Reads the S3 settings, which must be set together. */
function readS3(
  value: (name: string) => string | undefined,
  url: (name: string, protocols: readonly string[]) => string | undefined,
  problems: string[],
): Config['s3'] {
  const endpoint = url('S3_ENDPOINT', ['http:', 'https:']);
  const accessKeyId = value('S3_ACCESS_KEY_ID');
  const secretAccessKey = value('S3_SECRET_ACCESS_KEY');
  if (endpoint && accessKeyId && secretAccessKey)
    return { endpoint, accessKeyId, secretAccessKey, region: value('S3_REGION') ?? 'auto' };
  if (endpoint || accessKeyId || secretAccessKey)
    problems.push(
      'S3_ENDPOINT (with the bucket in its path), S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together.',
    );
  return undefined;
}

const mostWebProcesses = 64;

/**
 * The connections of a single process, and of each of several processes. Two processes together have about as
 * many as one. A used connection costs PostgreSQL 5 to 10 MB, and 10 for each of two processes made nothing
 * faster (docs/decisions/0022-web-processes.md).
 */
const aloneConnections = 10;
const besideConnections = 6;

/** Reads a number, or `auto` for the available parallelism of the machine. */
function readWebProcesses(given: string | undefined, complain: Complain): number {
  if (given === undefined) return 1;
  if (given === 'auto') return Math.min(availableParallelism(), mostWebProcesses);
  const number = /^\d+$/.test(given) ? Number(given) : 0;
  return number >= 1 && number <= mostWebProcesses
    ? number
    : complain('WEB_PROCESSES', `a whole number from 1 to ${mostWebProcesses}, or auto`, 1);
}

/** Never returns `true`, which would let clients choose the address that rate limits count. */
function readTrustProxy(given: string | undefined, complain: Complain): Config['trustProxy'] {
  if (given === undefined) return false;
  if (/^\d$/.test(given)) return Number(given) || false;
  const networks = given.split(',').map((network) => network.trim());
  return networks.every((network) => ipaddr.isValid(network) || ipaddr.isValidCIDR(network))
    ? networks
    : complain(
        'TRUST_PROXY',
        'the number of proxies in front of the service (such as 1) or their addresses and networks',
        false,
      );
}
