import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Config } from '#kit/config.ts';

type S3Server = { run(): Promise<{ port: number }>; close(): Promise<void> };
/** The package has no types. */
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (options: object) => S3Server;

/**
 * Starts an S3 server in this process until the calling test file ends. Returns its bucket's URL and key, as
 * `settings` and as the `environment` of a service, and the bucket's directory, which is removed too.
 * @param at its port. Default: any free port.
 */
export async function openS3Server(at = 0) {
  const directory = await mkdtemp(join(tmpdir(), 'formloom-s3-'));
  const server = new S3rver({
    port: at,
    address: '127.0.0.1',
    silent: true,
    directory: join(directory, 'bucket'),
    configureBuckets: [{ name: 'uploads' }],
  });
  const { port } = await server.run();
  after(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });
  return { directory, ...s3ServerAt(port) };
}

/** Returns the settings of {@link openS3Server} at a port, whether or not it is running. */
export const s3ServerAt = (port: number) =>
  settingsOfBucket({
    endpoint: `http://127.0.0.1:${port}/uploads`,
    region: 'auto',
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
  });

/** Returns the URL and key of a bucket, as `settings` and as the `environment` of a service. */
export const settingsOfBucket = (settings: NonNullable<Config['s3']>) => ({
  settings,
  environment: {
    S3_ENDPOINT: settings.endpoint,
    S3_REGION: settings.region,
    S3_ACCESS_KEY_ID: settings.accessKeyId,
    S3_SECRET_ACCESS_KEY: settings.secretAccessKey,
  },
});
