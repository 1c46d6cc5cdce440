// Creates formloom-<version>.tgz: the built service with its pages, without build tools and tests. `npm start` in its folder
// installs only what the server needs.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));
const { name, version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
const [folder = join(home, '.local')] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const file = join(folder, `${name}-${version}.tgz`);
const parts =
  'src db dist docs examples deploy setup.mjs package.json package-lock.json .npmrc README.md CHANGELOG.md LICENSE';
const { status } = spawnSync(
  'tar',
  [
    '-czf',
    file,
    '--exclude=*.test.ts',
    `--transform=s,^,${name}-${version}/,`,
    '-C',
    home,
    ...parts.split(' '),
  ],
  { stdio: 'inherit' },
);
if (status !== 0) process.exit(1);
process.stdout.write(`${file}\n`);
