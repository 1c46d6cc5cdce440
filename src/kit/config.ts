import { availableParallelism, networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import {
  type BackupConfig,
  type IdentityProviderConfig,
  type Limits,
  type MetricsConfig,
  readBackup,
  readIdentityProvider,
  readLimits,
  readMetrics,
} from './config/sections.ts';
import { addressesOf } from './find-host.ts';
import { readMailAddress } from './outbox/address.ts';
import { readSmtp, type SmtpConfig } from './smtp.ts';
import { keysPattern } from './vault.ts';

/** Everything an operator can set (docs/rules.md 18); docs/operating/settings.md lists the same names. */
export type Config = {
  /** Address and port that the server listens on. */
  host: string;
  port: number;
  /** Processes that serve; 1: this process alone, without a primary. */
  webProcesses: number;
  /** The origin that people and receivers reach, without a trailing slash. */
  publicUrl: string;
  /** Host names under which it answers besides that of publicUrl. */
  allowedHosts: readonly string[];
  /** Absolute path: the embedded database, uploads and the instance's key. */
  dataDir: string;
  /** Undefined: the embedded PostgreSQL. */
  databaseUrl: string | undefined;
  /** Connections per process. */
  databasePool: number;
  /** Seconds to wait after each failed attempt; its length is the number of automatic retries. */
  webhookRetryDelays: readonly number[];
  /** Seconds from connect to the last byte read. */
  webhookTimeout: number;
  /** A webhook is paused after this many days of failures only; 0: never. */
  webhookPauseDays: number;
  /** Days that the delivery log and events are kept. */
  deliveryRetentionDays: number;
  /** A PEM file of authorities that every TLS connection trusts beside the usual ones (trust-ca-file.ts). */
  caFile: string | undefined;
  /** CIDRs that the address guard lets through although they are not public. */
  webhookAllowNetworks: readonly string[];
  /** Shared counters for rate limits; undefined: this process's memory. */
  valkeyUrl: string | undefined;
  /** Object storage for uploads; undefined: files under dataDir. */
  s3: { endpoint: string; region: string; accessKeyId: string; secretAccessKey: string } | undefined;
  /** The backups that are made by themselves; undefined: none. */
  backup: BackupConfig | undefined;
  /** Undefined: nothing is counted. */
  metrics: MetricsConfig | undefined;
  /** The mail server and who mails come from; undefined: nothing is sent, and the console says so. */
  smtp: SmtpConfig | undefined;
  /** Who is told by mail of what is wrong with the service; undefined: the log alone says it. */
  operatorEmail: string | undefined;
  /** Where holes are reported, as an address that begins with mailto: or https:; undefined: no `security.txt`. */
  securityContact: string | undefined;
  /** Mails that leave in a minute at most, over all processes. */
  mailPerMinute: number;
  /** Mails to visitors (receipts, links to go on) that leave for one form in an hour at most. */
  mailToVisitors: number;
  /** Seconds to wait after each time that the mail server put off a mail; its length is the number of retries. */
  mailRetryDelays: readonly number[];
  /** Who signs people in beside the service itself; undefined: nobody. */
  identityProvider: IdentityProviderConfig | undefined;
  /** Who makes workspaces in the console: nobody but the operator by command line, owners of one, or everyone. */
  workspaceCreation: WorkspaceCreation;
  /** The plan of a new workspace. */
  defaultPlan: PlanName;
  /** Whether every answer of the API is held against its declaration: a fault of ours is then a 500. For tests. */
  isReplyChecked: boolean;
  limits: Limits;
  logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** What X-Forwarded-For to believe: a number of proxies or a list of CIDRs; false: none. */
  trustProxy: number | string[] | false;
  /** 64 hexadecimal digits; undefined: made at first start and kept in dataDir. */
  secretKey: string | undefined;
};

/** A start that cannot work: all problems at once, in words. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : 'problems'}:\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    );
  }
}

/** The tiers of the specification ("API rate limits"); what each gives is in #workspaces/plans.ts. */
export const planNames = ['free', 'pro', 'business', 'enterprise'] as const;
export type PlanName = (typeof planNames)[number];
const workspaceCreations = ['operator', 'owners', 'everyone'] as const;
export type WorkspaceCreation = (typeof workspaceCreations)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/** Specification, "Delivery and retry rules"; mails keep to it too. */
const defaultRetryDelays = [60, 300, 900, 3_600, 10_800] as const;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * Reads and checks the environment. An empty variable counts as unset.
 * @throws ConfigError with every problem found.
 */
export function readConfig(environment: Environment): Config {
  const problems: string[] = [];
  const value = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const complain: Complain = (name, expected, fallback) => {
    // A password in an address stays out of the message, which ends in logs.
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
      : complain(
          name,
          `an address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`,
          undefined,
        );
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
    // The value itself stays out of the message: it is a secret.
    problems.push(
      'SECRET_KEY must be 64 hexadecimal digits, such as `openssl rand -hex 32` prints, with up to three former ones behind it, separated by commas.',
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
    valkeyUrl: url('VALKEY_URL', ['redis:', 'rediss:', 'valkey:']),
    s3: readS3(value, url, problems),
    backup: readBackup(value, wholeNumber, problems),
    metrics: readMetrics(value, problems),
    smtp: readSmtp({ url: value('SMTP_URL'), from: value('MAIL_FROM') }, problems),
    operatorEmail: readOperator(value('OPERATOR_EMAIL'), complain),
    securityContact: readContact(value('SECURITY_CONTACT'), complain),
    mailPerMinute: wholeNumber('MAIL_PER_MINUTE', 300, 10, 60_000),
    mailToVisitors: wholeNumber('MAIL_TO_VISITORS', 200, 1, 1_000_000),
    mailRetryDelays: retryDelays('MAIL_RETRY_DELAYS'),
    identityProvider: readIdentityProvider(value, list, problems),
    workspaceCreation: oneOf('WORKSPACE_CREATION', workspaceCreations, 'owners'),
    defaultPlan: oneOf('DEFAULT_PLAN', planNames, 'enterprise'),
    isReplyChecked: environment['CHECK_REPLIES'] === 'true',
    limits: readLimits(wholeNumber),
    logLevel: oneOf('LOG_LEVEL', logLevels, 'info'),
    trustProxy: readTrustProxy(value('TRUST_PROXY'), complain),
    secretKey,
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/** Notes what is wrong with a setting, and goes on with the fallback: all problems are said at once. */
type Complain = <T>(name: string, expected: string, fallback: T) => T;

const readOperator = (given: string | undefined, complain: Complain): string | undefined =>
  given === undefined || readMailAddress(given)
    ? given
    : complain('OPERATOR_EMAIL', 'an email address', undefined);

/** As RFC 9116 wants it: an address of the web by https alone, a mailbox with its scheme. */
function readContact(given: string | undefined, complain: Complain): string | undefined {
  if (given === undefined) return undefined;
  const url = URL.parse(readMailAddress(given) ? `mailto:${given}` : given);
  return url !== null && /^(https|mailto):$/.test(url.protocol)
    ? url.href
    : complain('SECURITY_CONTACT', 'an email address or an address that begins with https://', undefined);
}

/**
 * The origin of PUBLIC_URL, as browsers write it: that `HTTPS://Forms.Example` is https decides about cookies. The
 * addresses of pages begin with their own paths, so one below a path would not be found.
 */
function readOrigin(given: string | undefined, complain: Complain): string | undefined {
  if (given === undefined) return undefined;
  const url = URL.parse(given);
  const isOrigin = url !== null && `${url.origin}/` === url.href && /^https?:$/.test(url.protocol);
  const expected =
    'an address that begins with http:// or https://, without a path (give the service a host name of its own, such as https://forms.example.com)';
  return isOrigin ? url.origin : complain('PUBLIC_URL', expected, undefined);
}

/** Whether HOST means every address of this machine, none of which leads there from another machine. */
export const isEveryAddress = (host: string): boolean =>
  ipaddr.isValid(host) && ipaddr.parse(host).range() === 'unspecified';

/**
 * A name that links can have: for every address, the first that other machines reach this one by; the machine's own loopback
 * address where it has no other.
 */
function reachableName(host: string): string {
  if (!isEveryAddress(host)) return host;
  const outside = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, family, scopeid }) => !internal && (family === 'IPv4' || scopeid === 0));
  const chosen = outside.find(({ family }) => family === 'IPv4') ?? outside[0];
  return chosen?.address ?? '127.0.0.1';
}

/** Where people reach the service if PUBLIC_URL does not say it. */
export function defaultPublicUrl({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const name = reachableName(host);
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/**
 * DATABASE_URL in the forms of libpq: with several hosts, and with the directory of a socket as its host or in `host=`. A user name
 * or password with a character that ends the part before the host makes another address of it, so that one gets its own advice.
 */
function readDatabaseUrl(given: string | undefined, complain: Complain): string | undefined {
  if (given === undefined) return undefined;
  const expected = 'an address that begins with postgres:// or postgresql://';
  if (!/^postgres(ql)?:\/\//.test(given)) return complain('DATABASE_URL', expected, undefined);
  const isReadable = addressesOf(given).every((each) => isDecodable(each));
  const [, authority = '', rest = ''] = /^\w+:\/\/([^/?#]*)(.*)$/s.exec(given) ?? [];
  // Behind an `=` it is the value of a parameter.
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
    // Not the escape of a character.
    return false;
  }
}

/** All of the S3 settings or none of them. */
function readS3(
  value: (name: string) => string | undefined,
  url: (name: string, protocols: readonly string[]) => string | undefined,
  problems: string[],
): Config['s3'] {
  const endpoint = url('S3_ENDPOINT', ['http:', 'https:']);
  const accessKeyId = value('S3_ACCESS_KEY_ID');
  const secretAccessKey = value('S3_SECRET_ACCESS_KEY');
  if (endpoint && accessKeyId && secretAccessKey) {
    return { endpoint, accessKeyId, secretAccessKey, region: value('S3_REGION') ?? 'auto' };
  }
  if (endpoint || accessKeyId || secretAccessKey) {
    problems.push(
      'S3_ENDPOINT (with the bucket in its path), S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together.',
    );
  }
  return undefined;
}

const mostWebProcesses = 64;

/**
 * Connections of a process that is alone, and of one of several: two have about as many as one. A connection that is used costs
 * PostgreSQL 5 to 10 MB, and with 10 for each of two nothing is quicker (docs/decisions/0022-web-processes.md).
 */
const aloneConnections = 10;
const besideConnections = 6;

/** A number, or `auto` for as many as the machine runs at once. */
function readWebProcesses(given: string | undefined, complain: Complain): number {
  if (given === undefined) return 1;
  if (given === 'auto') return Math.min(availableParallelism(), mostWebProcesses);
  const number = /^\d+$/.test(given) ? Number(given) : 0;
  return number >= 1 && number <= mostWebProcesses
    ? number
    : complain('WEB_PROCESSES', `a whole number from 1 to ${mostWebProcesses}, or auto`, 1);
}

/** Never `true`: believing every X-Forwarded-For would let anyone choose the address that limits are counted by. */
function readTrustProxy(given: string | undefined, complain: Complain): Config['trustProxy'] {
  if (given === undefined) return false;
  if (/^\d$/.test(given)) return Number(given) || false;
  const networks = given.split(',').map((network) => network.trim());
  return networks.every((network) => ipaddr.isValid(network) || ipaddr.isValidCIDR(network))
    ? networks
    : complain(
        'TRUST_PROXY',
        'the number of proxies in front (such as 1) or their addresses and networks',
        false,
      );
}
