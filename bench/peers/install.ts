import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Peer } from './peer.ts';
import { type Processes, runProgram } from './processes.ts';

const peersHome = fileURLToPath(new URL('../../.local/bench-peers/', import.meta.url));

/**
 * Installs a peer with npm into its own folder, ignored by git, unless these versions are already installed.
 * Package scripts do not run, because the packages used come built.
 * @returns the folder. @throws with npm's output.
 */
export async function installPeer(processes: Processes, { name, packages }: Peer): Promise<string> {
  const folder = join(peersHome, name);
  const manifest = `${JSON.stringify({ name: `bench-peer-${name}`, private: true, ...packages }, null, 2)}\n`;
  const stamp = join(folder, '.installed');
  if ((await readFile(stamp, 'utf8').catch(() => '')) === manifest) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), manifest);
  const npm = process.env['npm_execpath'];
  const parameters = [
    'install',
    // npm tells its scripts the path of its own project, and would install there.
    `--prefix=${folder}`,
    '--ignore-scripts',
    '--no-package-lock',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const [command, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  await runProgram(processes, {
    command,
    parameters: [...first, ...parameters],
    folder,
    environment: process.env,
  });
  // Written last, so that an interrupted installation starts again.
  await writeFile(stamp, manifest);
  return folder;
}
