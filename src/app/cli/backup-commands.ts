import { resolve } from 'node:path';
import { sayCount } from '#ast/basics/say-count.ts';
import { fetchBackup } from '#backup/schedule.ts';
import { openStorage } from '#kit/storage/open-storage.ts';
import { findInstanceKey } from '#kit/vault.ts';
import { version } from '../operations/version.ts';
import {
  type BareContext,
  type Command,
  command,
  flag,
  machineCommand,
  type Option,
  optional,
  PartlyDone,
} from './command.ts';
import { id, readTextFile, text, UsageError, type Value } from './values.ts';

const file: Value<string> = { ...text('<file>'), isFile: true };
const passphraseFile = {
  ...optional(file),
  about: 'The file with the passphrase that seals the backup, which age opens too.',
};

export const backupCommands: readonly Command[] = [
  command({
    name: 'backup',
    summary:
      'Writes the database, the files and the key, or one workspace, to one new file while the service runs.',
    about:
      'All that was acknowledged before it began is in it. Whoever has the file has every answer and, unless it is left out or sealed, the key.',
    note: 'The bytes are those of the uploads. `restore <file> --check` tries out whether it can be restored.',
    parameters: { file },
    options: {
      'without-key': { ...flag, about: 'Leaves the key out: keep SECRET_KEY, or secret.key, elsewhere.' },
      'passphrase-file': passphraseFile,
      workspace: {
        ...optional(id),
        about: 'Only this workspace, with the accounts of its members. The key is never inside.',
      },
    },
    async run({ config, database, signal }, input) {
      const key = input['without-key'] ? undefined : await findInstanceKey(config.dataDir, config.secretKey);
      const passphrase = readPassphrase(input['passphrase-file']);
      const context = { database, storage: openStorage(config) };
      const options = {
        path: resolve(input.file),
        version,
        passphrase,
        leastRoom: config.limits.freeBytes,
        signal,
      };
      const made =
        input.workspace === undefined
          ? await (await import('#backup/make-backup.ts')).makeBackup(context, { ...options, key })
          : await (await import('#backup/workspace-backup.ts')).backUpWorkspace(
              context,
              input.workspace,
              options,
            );
      if (made.missing.length > 0)
        throw new PartlyDone(
          `${sayCount(made.missing.length, 'file is', 'files are')} not whole in storage, and so not in the backup: "missing" names them.`,
          made,
        );
      return made;
    },
  }),
  machineCommand({
    name: 'restore',
    summary:
      'Restores a backup into an empty instance, or the backup of a workspace into an instance that does not have it.',
    about:
      'Stop the service first, unless you restore a workspace. A workspace comes with the ids that it had, into the same version. A backup of an earlier version becomes one of this version. Killed midway it leaves the instance empty, and may be run again. `s3:<name>` is one in the bucket of S3_ENDPOINT; `s3:` says which there are.',
    note: ({ check }) =>
      check
        ? 'All of the backup was restored, and is gone again: so it can be.'
        : 'The backup is restored. Start the service if it is stopped.',
    parameters: { file },
    options: {
      'passphrase-file': passphraseFile,
      check: {
        ...flag,
        about: 'Restores into a database that is thrown away, to see that all of the backup can be read.',
      },
      'key-is-lost': {
        ...flag,
        about: 'Restores a backup without its key all the same; `instance-key replace` says what is lost.',
      },
    },
    async run({ config, log, signal }, input) {
      const passphrase = readPassphrase(input['passphrase-file']);
      const isKeyLost = input['key-is-lost'] || input.check;
      const { restore, tryRestore } = await import('../database/restore.ts');
      const name = /^s3:(.*)$/.exec(input.file)?.[1];
      const fetched = name === undefined ? undefined : await fetchBackup(config, name);
      try {
        const path = fetched ? input.file : resolve(input.file);
        const options = { path, file: fetched, passphrase, isKeyLost, signal };
        return await (input.check ? tryRestore(config, log, options) : restore(config, log, options));
      } finally {
        await fetched?.close();
      }
    },
  }),
];

/** Of the file's first line: an editor ends it with a line break, which nobody types. */
function readPassphrase(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const passphrase = readTextFile(path).split('\n', 1)[0]!.trim();
  if (passphrase === '') throw new UsageError(`${path} holds no passphrase.`);
  return passphrase;
}

const ownDatabase = 'embedded';

/** Another database: the address of a PostgreSQL, or the one that comes along. */
const place: Value<string> = {
  shows: `<url|${ownDatabase}>`,
  mustBe: `postgres://user:password@host/database, or "${ownDatabase}" for the one in DATA_DIR`,
  read: (given) => (given === ownDatabase || /^postgres(ql)?:\/\/./.test(given) ? given : undefined),
};

const to: Option<string | undefined> = {
  value: place,
  isRequired: true,
  unless: 'stay',
  about: 'Where to: an empty database, or the one that this instance was moved away from.',
};

export const moveCommand = machineCommand({
  name: 'move',
  summary:
    'Brings the database of this instance into another one, from the PostgreSQL that comes along to one of your own and back.',
  about:
    'The service does not run meanwhile. Files and the key stay where they are. Killed at any moment it may be run again: what is there by then is used by nobody before this database says that it was moved. Afterwards nothing starts on this database any more: let DATABASE_URL lead to the other.',
  note: 'Let DATABASE_URL lead to where the instance is now (none for the embedded one), and start the service.',
  options: {
    to,
    stay: { ...flag, about: 'Takes back that this database was moved: the service starts on it again.' },
  },
  async run(context, input) {
    const { stayInPlace } = await import('#backup/move-instance.ts');
    if (!input.stay) return move(context, input.to!);
    if (input.to !== undefined) throw new UsageError('--stay goes nowhere: leave --to out.');
    const here = await openHere(context);
    try {
      return await stayInPlace(here.database);
    } finally {
      await here.close();
    }
  },
});

async function openHere({ config, log }: BareContext) {
  const { openExistingDatabase } = await import('../database/open-database.ts');
  return openExistingDatabase(config, log);
}

async function move(context: BareContext, given: string): Promise<object> {
  const { config, log, tell } = context;
  const databaseUrl = given === ownDatabase ? undefined : given;
  if (config.databaseUrl === undefined && databaseUrl === undefined)
    throw new UsageError('The database is the embedded one already: DATABASE_URL names no other.');
  const { moveInstance } = await import('#backup/move-instance.ts');
  const { openEmptyDatabase } = await import('../database/open-database.ts');
  const { refuseUnfit } = await import('../checks/database-checks.ts');
  const from = await openHere(context);
  try {
    const other = await openEmptyDatabase({ ...config, databaseUrl }, log);
    try {
      await refuseUnfit({ config: { ...config, databaseUrl }, database: other.database });
      return await moveInstance({ from: from.database, to: other.database, place: other.description, tell });
    } finally {
      await other.close();
    }
  } finally {
    await from.close();
  }
}
