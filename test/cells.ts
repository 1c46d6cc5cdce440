import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { distributedUrl } from './distribute.ts';

/*
 * npm run test:cells                every declared statement on the Citus cluster at CITUS_URL, beside plain PostgreSQL
 * npm run test:cells -- <files…>    these test files there, with all tables in one distributed schema
 *
 * CITUS_URL=postgres://user@host:port/postgres is a server with Citus 13 in shared_preload_libraries, on which databases can be
 * made: each is a cluster of one node. Citus does its part there as on many, for it is the same planner.
 */
const home = fileURLToPath(new URL('..', import.meta.url));
const cluster = process.env['CITUS_URL'];
if (cluster === undefined) {
  process.stderr.write(
    'CITUS_URL does not say where a Citus cluster is: postgres://user@host:port/postgres\n',
  );
  process.exit(1);
}
const given = process.argv.slice(2);
const files = given.length > 0 ? given : [join(home, 'test', 'nightly', 'statements-on-citus.ts')];
const child = spawn(
  process.execPath,
  ['--disable-warning=ExperimentalWarning', join(home, 'test', 'run.ts'), ...files],
  {
    cwd: home,
    stdio: 'inherit',
    env: { ...process.env, TEST_DATABASE_URL: distributedUrl(cluster), TEST_CELLS: 'citus' },
  },
);
const [code] = (await once(child, 'exit')) as [number | null];
process.exit(code ?? 1);
