import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endWithSignals } from '#test/end-run.ts';
import { keepFilesInMemory } from '#test/memory.ts';
import { openTestServer } from '#test/server.ts';
import { compareRecords } from './compare.ts';

/*
 * npm run test:record -- <commit>  records a commit and the working tree, and prints the differences
 * npm run test:record              records only the working tree
 *   --parts document,help          only these parts
 * SCREENS=files                    only states and screens with names that start like this
 *   --keep                         reuses existing records of the last run
 *
 * Records the OpenAPI document, `--help`, the database catalog, pages, webhooks, exports, emails and the
 * accessibility trees of the console. Builds the commit in .local/record/<commit>/tree. Records stay in
 * .local/record/ for inspection.
 */
const allParts = ['document', 'catalogue', 'help', 'data', 'pages', 'screens'];
const home = fileURLToPath(new URL('../..', import.meta.url));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    parts: { type: 'string', default: allParts.join(',') },
    keep: { type: 'boolean', default: false },
  },
});
const [given] = positionals;
const unknown = values.parts.split(',').filter((part) => !allParts.includes(part));
if (unknown.length > 0) {
  say(`Usage: npm run test:record -- [<commit>] [--parts ${allParts.join(',')}] [--keep]`);
  process.exit(2);
}

function run(command: string, parameters: readonly string[], cwd = home): string {
  const { status, stdout, stderr } = spawnSync(command, parameters, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')}: ${stderr}`);
  return stdout.trim();
}

/**
 * Checks out a commit with a copy of the installed packages, and builds it.
 * @returns its folder.
 */
function checkOut(commit: string): string {
  const tree = join(home, '.local', 'record', commit, 'tree');
  if (!existsSync(join(tree, 'setup.mjs'))) {
    mkdirSync(tree, { recursive: true });
    run('sh', ['-c', `git archive ${commit} | tar -x -C "${tree}"`]);
    // Uses hard links. The two files that npm and setup.mjs write in place are copied.
    run('cp', ['-al', join(home, 'node_modules'), join(tree, 'node_modules')]);
    for (const name of ['.formloom.json', '.package-lock.json']) {
      const file = join('node_modules', name);
      rmSync(join(tree, file), { force: true });
      if (existsSync(join(home, file))) cpSync(join(home, file), join(tree, file));
    }
    rmSync(join(tree, 'node_modules', '.cache'), { recursive: true, force: true });
  }
  run(process.execPath, ['setup.mjs', '--all'], tree);
  return tree;
}

/** Records a tree in a separate process. */
function record(tree: string, folder: string, environment: NodeJS.ProcessEnv): Promise<void> {
  say(`Recording ${tree}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const script = fileURLToPath(new URL('record.ts', import.meta.url));
  const flags = ['--disable-warning=ExperimentalWarning', '--preserve-symlinks'];
  const child = spawn(process.execPath, [...flags, script, tree, folder, values.parts], {
    cwd: home,
    env: environment,
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`The record of ${tree} failed: see above.`)),
    );
  });
}

const commit = given === undefined ? undefined : run('git', ['rev-parse', '--short=12', `${given}^{commit}`]);
const after = join(home, '.local', 'record', 'now');
let removeFiles = (): void => {};
endWithSignals(() => removeFiles());
const tree = commit === undefined ? undefined : checkOut(commit);
run(process.execPath, ['setup.mjs', '--all']);
removeFiles = keepFilesInMemory();
const server = await openTestServer(say);
const environment = { ...process.env, ...server.environment };
const before = join(home, '.local', 'record', commit ?? '', 'record');
try {
  if (tree !== undefined && (!values.keep || !existsSync(before))) await record(tree, before, environment);
  await record(home, after, environment);
} finally {
  await server.close();
  removeFiles();
}
process.exit(tree === undefined || compareRecords({ before, after }, say) ? 0 : 1);
