import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { availableParallelism, networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { type Config, ConfigError, readConfig } from './config.ts';

const problemsOf = (environment: Record<string, string>): string => {
  try {
    readConfig(environment);
    return '';
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
};

test('without settings, the defaults of the handbook apply', () => {
  assert.deepEqual(readConfig({}), {
    host: '127.0.0.1',
    port: 3000,
    webProcesses: 1,
    allowedHosts: [],
    publicUrl: 'http://127.0.0.1:3000',
    dataDir: resolve('data'),
    pdfFonts: [],
    databaseUrl: undefined,
    databasePool: 10,
    webhookRetryDelays: [60, 300, 900, 3600, 10_800],
    webhookTimeout: 10,
    webhookPauseDays: 5,
    deliveryRetentionDays: 30,
    webhookAllowNetworks: [],
    valkeyUrl: undefined,
    s3: undefined,
    backup: undefined,
    caFile: undefined,
    metrics: undefined,
    operatorEmail: undefined,
    identityProvider: undefined,
    securityContact: undefined,
    smtp: undefined,
    mailPerMinute: 300,
    mailToVisitors: 200,
    mailRetryDelays: [60, 300, 900, 3600, 10_800],
    workspaceCreation: 'owners',
    defaultPlan: 'enterprise',
    isReplyChecked: false,
    limits: {
      submitsPerAddress: 600,
      submitsPerForm: 6_000,
      submitsPerWorkspace: 12_000,
      fileBytes: 10_485_760,
      uploadMbPerAddress: 2_000,
      uploadMbPerForm: 20_000,
      uploadMbPerWorkspace: 50_000,
      freeBytes: 536_870_912,
      invitationsPerPerson: 20_000,
      invitationsPerWorkspace: 50_000,
      consolePerMinute: 600,
    },
    logLevel: 'info',
    trustProxy: false,
    secretKey: undefined,
  } satisfies Config);
});

const s3 = {
  S3_ENDPOINT: 'https://s3.example/bucket/',
  S3_ACCESS_KEY_ID: 'id',
  S3_SECRET_ACCESS_KEY: 'secret',
};
const read: readonly [environment: Record<string, string>, part: Partial<Config>][] = [
  [{ WEB_PROCESSES: '4' }, { webProcesses: 4, databasePool: 6 }],
  [
    { WEB_PROCESSES: '4', DATABASE_POOL: '10' },
    { webProcesses: 4, databasePool: 10 },
  ],
  [
    { WEB_PROCESSES: 'auto' },
    { webProcesses: availableParallelism(), databasePool: availableParallelism() === 1 ? 10 : 6 },
  ],
  [{ HOST: '::1' }, { publicUrl: 'http://[::1]:3000' }],
  [{ PUBLIC_URL: 'https://forms.example/' }, { publicUrl: 'https://forms.example' }],
  [{ PUBLIC_URL: 'HTTPS://Forms.Example:443' }, { publicUrl: 'https://forms.example' }],
  [{ PUBLIC_URL: 'http://forms.example:8080' }, { publicUrl: 'http://forms.example:8080' }],
  [
    { PORT: '  ', DATABASE_URL: '', LOG_LEVEL: '' },
    { port: 3000, databaseUrl: undefined, logLevel: 'info' },
  ],
  [
    { DATABASE_URL: 'postgresql:///db?host=/run/postgresql' },
    { databaseUrl: 'postgresql:///db?host=/run/postgresql' },
  ],
  [
    { DATABASE_URL: 'postgresql://%2Frun%2Fpostgresql/db' },
    { databaseUrl: 'postgresql://%2Frun%2Fpostgresql/db' },
  ],
  [{ DATABASE_URL: 'postgres://host/db?user=a@b' }, { databaseUrl: 'postgres://host/db?user=a@b' }],
  [{ DATABASE_URL: 'postgres://u:p%40ss%2F@host/db' }, { databaseUrl: 'postgres://u:p%40ss%2F@host/db' }],
  [
    { DATABASE_URL: 'postgres://u:p@h:5433/db?host=/tmp/x' },
    { databaseUrl: 'postgres://u:p@h:5433/db?host=/tmp/x' },
  ],
  [
    { DATABASE_URL: 'postgres://u:p@one:5433,other/db?target_session_attrs=read-write' },
    { databaseUrl: 'postgres://u:p@one:5433,other/db?target_session_attrs=read-write' },
  ],
  [
    {
      SMTP_URL: 'smtp://us%40er:p%3Ass@mail.example.org',
      MAIL_FROM: '"Forms, Inc." <forms@example.org>',
      MAIL_PER_MINUTE: '60',
      MAIL_RETRY_DELAYS: '5,10',
    },
    {
      smtp: {
        host: 'mail.example.org',
        port: 587,
        tls: 'required',
        credentials: { user: 'us@er', password: 'p:ss' },
        from: { address: 'forms@example.org', name: 'Forms, Inc.' },
      },
      mailPerMinute: 60,
      mailRetryDelays: [5, 10],
    },
  ],
  ...(
    [
      ['smtps://mail.example.org', 465, 'implicit'],
      ['smtp://mail.example.org:25', 25, 'offered'],
      ['smtp://mail.example.org?tls=required', 587, 'required'],
      ['smtp://mail.example.org/?tls=off', 587, 'off'],
    ] as const
  ).map(([url, port, tls]): [Record<string, string>, Partial<Config>] => [
    { SMTP_URL: url, MAIL_FROM: 'forms@example.org' },
    {
      smtp: {
        host: 'mail.example.org',
        port,
        tls,
        credentials: undefined,
        from: { address: 'forms@example.org' },
      },
    },
  ]),
  [{ DATA_DIR: '/var/lib/formloom' }, { dataDir: '/var/lib/formloom' }],
  [{ WEBHOOK_RETRY_DELAYS: '1, 2.5,3' }, { webhookRetryDelays: [1, 2.5, 3] }],
  [{ ALLOWED_HOSTS: 'Forms, forms.internal' }, { allowedHosts: ['forms', 'forms.internal'] }],
  [{ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8,fd00::/8' }, { webhookAllowNetworks: ['127.0.0.0/8', 'fd00::/8'] }],
  [{ SECURITY_CONTACT: 'holes@example.org' }, { securityContact: 'mailto:holes@example.org' }],
  [{ SECURITY_CONTACT: 'https://example.org/report' }, { securityContact: 'https://example.org/report' }],
  [{ TRUST_PROXY: '1' }, { trustProxy: 1 }],
  [{ TRUST_PROXY: '0' }, { trustProxy: false }],
  [{ TRUST_PROXY: '10.0.0.0/8, 192.168.1.1' }, { trustProxy: ['10.0.0.0/8', '192.168.1.1'] }],
  [
    { ...s3, S3_REGION: 'eu-1' },
    {
      s3: {
        endpoint: 'https://s3.example/bucket',
        region: 'eu-1',
        accessKeyId: 'id',
        secretAccessKey: 'secret',
      },
    },
  ],
  [{ SECRET_KEY: 'AB'.repeat(32) }, { secretKey: 'AB'.repeat(32) }],
];
for (const [environment, part] of read) {
  test(`${JSON.stringify(environment)} is accepted`, () => {
    const config = readConfig(environment);
    for (const [name, value] of Object.entries(part))
      assert.deepEqual(config[name as keyof Config], value, name);
  });
}

const refused: readonly [environment: Record<string, string>, sentence: RegExp][] = [
  [{ PORT: '0' }, /PORT is "0", but it must be a whole number from 1 to 65535/],
  ...['0', '65', 'all'].map((wrong): [Record<string, string>, RegExp] => [
    { WEB_PROCESSES: wrong },
    new RegExp(`WEB_PROCESSES is "${wrong}", but it must be a whole number from 1 to 64, or auto`),
  ]),
  [{ PORT: '3000a' }, /PORT/],
  [{ PORT: '0x50' }, /PORT/],
  [{ PORT: '70000' }, /PORT/],
  [{ PUBLIC_URL: 'forms.example' }, /PUBLIC_URL/],
  [{ PUBLIC_URL: 'javascript:alert(1)' }, /PUBLIC_URL/],
  [{ PUBLIC_URL: 'https://example.org/forms' }, /PUBLIC_URL .* without a path/],
  [{ PUBLIC_URL: 'https://example.org/?forms' }, /PUBLIC_URL .* without a path/],
  [{ PUBLIC_URL: 'https://ada:secret@example.org' }, /PUBLIC_URL is "https:\/\/…@example\.org"/],
  [{ DATABASE_URL: 'mysql://h/db' }, /DATABASE_URL .* postgres/],
  [{ DATABASE_URL: 'postgres://u:p@one,other:port/db' }, /DATABASE_URL .* postgres/],
  [{ DATABASE_URL: 'postgres://u:pa/ss@host/db' }, /"postgres:\/\/…@host\/db".*percent-encoded.*\/ is %2F/],
  [{ DATABASE_URL: 'postgres://u:12#3@host/db' }, /percent-encoded/],
  [{ DATABASE_URL: 'postgres://u:1?x@host/db' }, /percent-encoded/],
  [{ DATABASE_URL: 'postgres://u:x%ff@host/db' }, /percent-encoded/],
  [{ VALKEY_URL: 'http://h' }, /VALKEY_URL/],
  [{ DATABASE_POOL: '1' }, /DATABASE_POOL/],
  [{ WEBHOOK_TIMEOUT: '0' }, /WEBHOOK_TIMEOUT/],
  [{ WEBHOOK_PAUSE_DAYS: '-1' }, /WEBHOOK_PAUSE_DAYS/],
  [{ DELIVERY_RETENTION_DAYS: '0' }, /DELIVERY_RETENTION_DAYS/],
  [{ WEBHOOK_RETRY_DELAYS: '60,soon' }, /WEBHOOK_RETRY_DELAYS/],
  [{ WEBHOOK_RETRY_DELAYS: '-1' }, /WEBHOOK_RETRY_DELAYS/],
  [{ ALLOWED_HOSTS: 'https://forms.internal' }, /ALLOWED_HOSTS/],
  [{ WEBHOOK_ALLOW_NETWORKS: '127.0.0.1' }, /WEBHOOK_ALLOW_NETWORKS/],
  [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL .* info/],
  [{ TRUST_PROXY: 'true' }, /TRUST_PROXY/],
  [{ TRUST_PROXY: '*' }, /TRUST_PROXY/],
  [{ SECURITY_CONTACT: 'http://example.org' }, /SECURITY_CONTACT .* must be an email address or .*https/],
  [{ SECURITY_CONTACT: 'us' }, /SECURITY_CONTACT/],
  [{ SMTP_URL: 'smtp://mail.example.org' }, /SMTP_URL and MAIL_FROM must be set together/],
  [{ MAIL_FROM: 'forms@example.org' }, /SMTP_URL and MAIL_FROM must be set together/],
  [{ SMTP_URL: 'https://mail.example.org', MAIL_FROM: 'a@b.test' }, /SMTP_URL must look like smtp:/],
  [{ SMTP_URL: 'smtp://mail.example.org?tls=maybe', MAIL_FROM: 'a@b.test' }, /SMTP_URL must look like smtp:/],
  [
    { SMTP_URL: 'smtp://mail.example.org', MAIL_FROM: 'a@b.test\r\nBcc: c@d.test' },
    /MAIL_FROM must be an email address/,
  ],
  [{ MAIL_PER_MINUTE: '5' }, /MAIL_PER_MINUTE is "5", but it must be a whole number from 10/],
  [{ S3_ENDPOINT: 'https://s3.example/bucket' }, /S3_ENDPOINT .* must be set together/],
  [{ BACKUP_SCHEDULE: 'nightly' }, /BACKUP_SCHEDULE is "nightly", but it must be a cron expression/],
  [
    { BACKUP_SCHEDULE: '0 3 31 2 *' },
    /BACKUP_SCHEDULE is "0 3 31 2 \*", but it must be a cron expression, .*never/,
  ],
  [{ BACKUP_PASSPHRASE: 'correct horse\nbattery' }, /BACKUP_PASSPHRASE must be one line/],
  [{ BACKUP_WITHOUT_KEY: 'yes' }, /BACKUP_WITHOUT_KEY is "yes", but it must be true or false/],
  [{ OIDC_ISSUER: 'http://login.example.org' }, /OIDC_ISSUER is .* begins with https/],
  [
    { OIDC_ISSUER: 'https://login.example.org' },
    /OIDC_CLIENT_ID must also be set(.|\n)*OIDC_DOMAINS must list/,
  ],
  [
    { OIDC_ISSUER: 'https://login.example.org', OIDC_ROLES: 'staff=all:owner' },
    /OIDC_ROLES has "staff=all:owner"/,
  ],
  [{ BACKUP_TO: 's3' }, /BACKUP_TO is "s3", but S3_ENDPOINT is not set/],
];
for (const [environment, sentence] of refused) {
  test(`${JSON.stringify(environment)} prevents the start`, () => {
    assert.match(problemsOf(environment), sentence);
  });
}

test('all problems are reported together', () => {
  const message = problemsOf({ PORT: 'x', LOG_LEVEL: 'x', TRUST_PROXY: 'x', S3_ACCESS_KEY_ID: 'x' });
  assert.equal(message.split('\n').length, 5);
});

for (const HOST of ['0.0.0.0', '::', '0::0'])
  test(`links for HOST=${HOST} have an address that reaches this machine`, () => {
    const { host, publicUrl } = readConfig({ HOST, PORT: '8080' });
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const { hostname, port } = new URL(publicUrl);
    assert.deepEqual([host, port], [HOST, '8080']);
    assert.ok(['127.0.0.1', ...own.map(({ address }) => address)].includes(hostname.replace(/[[\]]/g, '')));
  });

test('a secret is never in the message', () => {
  const message = problemsOf({
    SECRET_KEY: 'hunter2'.repeat(5),
    DATABASE_URL: 'mysql://user:hunter2@host/db',
    VALKEY_URL: 'http://:hunter2/with@slash@host',
    S3_SECRET_ACCESS_KEY: 'hunter2',
    SMTP_URL: 'smtp://user:hunter2@mail.example.org:port',
    MAIL_FROM: 'hunter2',
  });
  assert.equal(message.split('\n').length, 7);
  assert.doesNotMatch(message, /hunter2/);
});

test('the handbook lists every setting and no others', async () => {
  const settings = new Set<string>();
  const given: Record<string, string> = {
    BACKUP_SCHEDULE: '0 3 * * *',
    OIDC_ISSUER: 'https://login.example.org',
    OIDC_CLIENT_ID: 'formloom',
    OIDC_DOMAINS: 'example.org',
    S3_ENDPOINT: 'https://s3.test/bucket',
    S3_ACCESS_KEY_ID: 'a',
    S3_SECRET_ACCESS_KEY: 'b',
  };
  const environment = new Proxy(given, {
    get: (target, name) => {
      settings.add(String(name));
      return target[String(name)];
    },
  });
  readConfig(environment);
  // Only tests use this setting.
  settings.delete('CHECK_REPLIES');
  const page = await readFile(new URL('../../docs/operating/settings.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| ((?:`[A-Z0-9_]+`(?:, )?)+) \|/gm)].flatMap(([, names]) =>
    names!.replaceAll('`', '').split(', '),
  );
  assert.deepEqual(documented.toSorted(), [...settings].toSorted());
});
