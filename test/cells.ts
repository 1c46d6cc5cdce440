import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithSignals } from './end-run.ts';

/*
 * npm run test:long -- cells
 * runs tests of the API, pages and the console on three cells, with each tenant in the next cell.
 * It also runs tests of cells, which begin with one.
 * If CITUS_URL names a server with Citus, it repeats the first tests with cells at a node of a cluster.
 * Then it tests moving cells and losing their node, on a cluster of three nodes that it creates.
 *
 * npm run test:long -- cells <files…>
 * runs these test files on three cells, at a node of a cluster if CITUS_URL names a server.
 *
 * CITUS_URL=postgres://user@host:port/postgres
 * names a server with Citus 13 in shared_preload_libraries and the settings of docs/operating/cells.md.
 * It must allow creating databases. Each database is a cluster of one node, which also has the cells.
 */
const home = fileURLToPath(new URL('..', import.meta.url));
const cluster = process.env['CITUS_URL'];
endWithSignals();

/** Excludes tests that query the database directly, because a tenant's rows may be in another cell. */
const wide = [
  'src/app/operations/api.test.ts',
  'src/workspaces/sign-in/session-endpoints.test.ts',
  'src/files/*.test.ts',
  'src/forms/*.test.ts',
  'src/forms/draft-endpoints.test.ts',
  'src/forms/texts-endpoints.test.ts',
  'src/invitations/admission.test.ts',
  'src/invitations/endpoints.test.ts',
  'src/invitations/sending.test.ts',
  'src/mail/endpoints.test.ts',
  'src/page/{,visit/}*.test.ts',
  'src/search/*.test.ts',
  'src/submissions/{endpoints,remove-form,submit}.test.ts',
  'src/submissions/{changes,held}/endpoints.test.ts',
  'src/webhooks/{filter,workbench}.test.ts',
  'src/workspaces/{endpoints,key-endpoints,member-invitations/endpoints}.test.ts',
  'test/mcp.test.ts',
];
/** Tests that create their cells and begin with one. */
const own = [
  'test/cells/*.test.ts',
  'test/cells/processes.ts',
  'src/app/server/serve-cells.test.ts',
  'src/app/server/place-of-request.test.ts',
];

async function run(files: readonly string[], environment: Record<string, string>): Promise<boolean> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(home, 'test', 'run.ts'), ...files],
    { cwd: home, stdio: 'inherit', env: { ...process.env, ...environment } },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

const threeCells = { TEST_CELLS: '3' };
const atNode = (url: string) => ({ TEST_CELLS: '3@citus', TEST_DATABASE_URL: url });
const given = process.argv.slice(2);
const every = given.length > 0 ? given : globSync(wide, { cwd: home });
const runs =
  given.length > 0
    ? [() => run(every, cluster === undefined ? threeCells : atNode(cluster))]
    : [
        () => run(every, threeCells),
        () => run(globSync(own, { cwd: home }), {}),
        ...(cluster === undefined
          ? []
          : [
              () => run(every, atNode(cluster)),
              () => run([join(home, 'test', 'nightly', 'cells-on-citus.ts')], {}),
            ]),
      ];
if (given.length === 0 && cluster === undefined)
  process.stdout.write('NOT RUN, as CITUS_URL names no server with Citus: cells at a node of a cluster\n');
for (const each of runs) if (!(await each())) process.exitCode = 1;
