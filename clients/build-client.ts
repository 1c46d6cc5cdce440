import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { apiRoutes } from '#app/operations/operations.ts';
import { type Services, serviceVersion } from '#app/operations/services.ts';
import { writeOpenApi } from '#app/server/server.ts';
import { readConfig } from '#kit/config.ts';
import { writeApi } from './write-api.ts';

/*
 * `npm run client` builds the package in typescript/dist from typescript/src and the operations of the
 * service.
 */

const folder = fileURLToPath(new URL('typescript/', import.meta.url));
const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

/**
 * Builds the package.
 * @returns the gzipped size of all its script, in bytes.
 * @throws Error if it does not compile.
 */
export function buildClient(): number {
  // The routes are declared but never run, so the configuration is the only service they read.
  const routes = apiRoutes({ config: readConfig({}) } as Services);
  const document = writeOpenApi(routes, { publicUrl: 'https://forms.example.org', version: serviceVersion });
  writeFileSync(join(folder, 'src/api.ts'), writeApi(routes, document));
  copyFileSync(join(folder, '../../LICENSE'), join(folder, 'LICENSE'));
  const dist = join(folder, 'dist');
  rmSync(dist, { recursive: true, force: true });
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The client does not compile.\n${stdout}`);
  const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  return gzipSync(scripts.map((name) => readFileSync(join(dist, name), 'utf8')).join('\n')).length;
}

if (import.meta.main)
  process.stderr.write(`The client is built: ${buildClient()} bytes of script, gzipped.\n`);
