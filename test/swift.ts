import { mkdir, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { S3mini } from 's3mini';
import { runProgram } from '#kit/embedded-postgres/program.ts';
import { settingsOfBucket } from './s3-server.ts';
import { freePort, until } from './service.ts';
import { end, findProgram, makeDirectory, start } from './valkey.ts';

/*
 * OpenStack Swift with its S3 API, from Debian: a storage server used in production. The npm server in
 * s3-server.ts runs in the process of a test. One device, one copy, no log.
 */
const kinds = ['account', 'container', 'object'] as const;
const packages = [...kinds, 'proxy'].map((kind) => `swift-${kind}`);
const login = { accessKeyId: 'test:tester', secretAccessKey: 'testing' };

/** Formats sections as an INI file, the format of Swift's settings. */
const written = (sections: Record<string, Record<string, string | number>>): string =>
  Object.entries(sections)
    .flatMap(([name, lines]) => [
      `[${name}]`,
      ...Object.entries(lines).map(([key, value]) => `${key} = ${value}`),
    ])
    .join('\n');

/**
 * Starts Swift with an empty bucket until the calling test file ends.
 * @throws Error if this machine lacks it. The message says what to install.
 */
export async function openSwift() {
  const programs = [...packages.map((name) => `${name}-server`), 'swift-ring-builder', 'memcached'];
  const found = await Promise.all(programs.map(findProgram));
  if (found.includes(undefined))
    throw new Error(
      `This machine lacks one of ${[...packages, 'memcached'].join(', ')} (Debian: apt-get install).`,
    );
  const directory = await makeDirectory(undefined);
  const [memory, proxy, ...ports] = await Promise.all(
    Array.from({ length: 2 + kinds.length }, () => freePort()),
  );
  const common = (port: number) => ({
    bind_ip: '127.0.0.1',
    bind_port: port,
    workers: 0,
    swift_dir: directory,
    devices: join(directory, 'devices'),
    mount_check: 'false',
    user: userInfo().username,
  });
  await mkdir(join(directory, 'devices', 'one'), { recursive: true });
  await writeFile(
    join(directory, 'swift.conf'),
    written({
      'swift-hash': { swift_hash_path_suffix: 'formloom' },
      'storage-policy:0': { name: 'one', default: 'yes' },
    }),
  );
  const filters = [
    'catch_errors',
    'gatekeeper',
    'cache',
    'listing_formats',
    's3api',
    'tempauth',
    'slo',
    'dlo',
  ];
  const settingsOfFilter: Record<string, Record<string, string>> = {
    cache: { use: 'egg:swift#memcache', memcache_servers: `127.0.0.1:${memory}` },
    tempauth: { use: 'egg:swift#tempauth', user_test_tester: `${login.secretAccessKey} .admin` },
  };
  await writeFile(
    join(directory, 'proxy.conf'),
    written({
      DEFAULT: common(proxy!),
      'pipeline:main': { pipeline: [...filters, 'proxy-server'].join(' ') },
      'app:proxy-server': { use: 'egg:swift#proxy', account_autocreate: 'true' },
      ...Object.fromEntries(
        filters.map((name) => [`filter:${name}`, settingsOfFilter[name] ?? { use: `egg:swift#${name}` }]),
      ),
    }),
  );
  const builder = found.at(-2)!;
  for (const [index, kind] of kinds.entries()) {
    const port = ports[index]!;
    await writeFile(
      join(directory, `${kind}.conf`),
      written({
        DEFAULT: common(port),
        'pipeline:main': { pipeline: `${kind}-server` },
        [`app:${kind}-server`]: { use: `egg:swift#${kind}` },
      }),
    );
    const ring = join(directory, `${kind}.builder`);
    for (const words of [
      ['create', '4', '1', '1'],
      ['add', `r1z1-127.0.0.1:${port}/one`, '1'],
      ['rebalance'],
    ])
      await runProgram(builder, [ring, ...words], {
        account: undefined,
        purpose: 'say where Swift keeps what',
      });
  }
  const servers = [
    start([found.at(-1)!, '-l', '127.0.0.1', '-p', String(memory), '-u', userInfo().username], undefined),
  ];
  after(async () => {
    await Promise.all(servers.map((server) => end(server, 'SIGTERM')));
    await rm(directory, { recursive: true });
  });
  const serve = (kind: string, index: number): unknown =>
    servers.push(start([found[index]!, join(directory, `${kind}.conf`)], undefined));
  // Waits long, because Swift runs in Python and the machine may be busy.
  const listening = (port: number): Promise<boolean> =>
    until(
      'Swift to listen',
      () => fetch(`http://127.0.0.1:${port}/healthcheck`).then(Boolean, () => false),
      120,
    );
  for (const [index, kind] of kinds.entries()) serve(kind, index);
  // The proxy ignores a server for a minute after ten failed requests, so all servers must listen first.
  await Promise.all(ports.map(listening));
  serve('proxy', kinds.length);
  await listening(proxy!);
  const settings = { endpoint: `http://127.0.0.1:${proxy}/uploads`, region: 'us-east-1', ...login };
  await new S3mini(settings).createBucket();
  return settingsOfBucket(settings);
}
