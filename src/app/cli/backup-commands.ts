import { resolve } from 'node:path';
import { formatCount } from '#ast/basics/format-number.ts';
import { fetchBackup } from '#backup/schedule.ts';
import { openStorage } from '#kit/storage/open-storage.ts';
import { findInstanceKey } from '#kit/vault.ts';
import { serviceVersion } from '../operations/services.ts';
import {
  type Command,
  type CommandOption,
  defineDatabaseCommand,
  defineMachineCommand,
  flagOption,
  type MachineCommandContext,
  optionalOption,
  PartialFailureError,
} from './command.ts';
import { idValue, readTextFile, textValue, UsageError, type ValueReader } from './values.ts';

const file: ValueReader<string> = { ...textValue('<file>'), isFile: true };
const passphraseFile = {
  ...optionalOption(file),
  about: 'A file with the passphrase that encrypts the backup. age can also decrypt the backup.',
};

export const backupCommands: readonly Command[] = [
  defineDatabaseCommand({
    name: 'backup',
    summary:
      'Writes a backup to a new file while the service runs: the database, files and key, or one workspace.',
    about:
      'It contains everything that was acknowledged before the backup began. Keep the file safe: unless you encrypt it, it reveals all answers and, unless you omit it, the key.',
    note: '`bytes` is the size of the uploads. Run `restore <file> --check` to test whether the backup can be restored.',
    parameters: { file },
    options: {
      'without-key': { ...flagOption, about: 'Omits the key. Keep SECRET_KEY, or secret.key, elsewhere.' },
      'passphrase-file': passphraseFile,
      workspace: {
        ...optionalOption(idValue),
        about: 'Backs up only this workspace, with the accounts of its members. Never includes the key.',
      },
    },
    async run({ config, database, signal }, input) {
      const key = input['without-key'] ? undefined : await findInstanceKey(config.dataDir, config.secretKey);
      const passphrase = readPassphrase(input['passphrase-file']);
      const context = { database, storage: openStorage(config) };
      const options = {
        path: resolve(input.file),
        version: serviceVersion,
        passphrase,
        leastRoom: config.limits.freeBytes,
        signal,
      };
      const backup =
        input.workspace === undefined
          ? await (await import('#backup/make-backup.ts')).makeBackup(context, { ...options, key })
          : await (await import('#backup/workspace-backup.ts')).backUpWorkspace(
              context,
              input.workspace,
              options,
            );
      if (backup.missing.length > 0)
        throw new PartialFailureError(
          `${formatCount(backup.missing.length, 'file is', 'files are')} missing or incomplete in storage, so the backup does not contain them. See "missing" for a list.`,
          backup,
        );
      return backup;
    },
  }),
  defineMachineCommand({
    name: 'restore',
    summary:
      'Restores a backup into an empty instance, or a workspace into an instance that does not contain it.',
    about:
      'Stop the service first, unless you restore a workspace. A workspace keeps its ids and must be restored by the version that made the backup. An instance backup from an earlier version is upgraded. If the restore is interrupted, the instance stays empty; run the command again. `s3:<name>` is a backup in the bucket of S3_ENDPOINT; `s3:` lists them.',
    note: ({ check }) =>
      check
        ? 'The whole backup can be restored. The temporary database was deleted.'
        : 'The backup was restored. Start the service if it is stopped.',
    parameters: { file },
    options: {
      'passphrase-file': passphraseFile,
      check: {
        ...flagOption,
        about: 'Restores into a temporary database, to check that the whole backup can be read.',
      },
      'key-is-lost': {
        ...flagOption,
        about: 'Restores a backup without its key; `instance-key replace` lists what is lost.',
      },
    },
    async run({ config, log, signal }, input) {
      const passphrase = readPassphrase(input['passphrase-file']);
      const isKeyLost = input['key-is-lost'] || input.check;
      const { restoreInstanceOrWorkspace, testRestore } = await import('../database/restore.ts');
      const name = /^s3:(.*)$/.exec(input.file)?.[1];
      const fetched = name === undefined ? undefined : await fetchBackup(config, name);
      try {
        const path = fetched ? input.file : resolve(input.file);
        const options = { path, file: fetched, passphrase, isKeyLost, signal };
        return await (input.check
          ? testRestore(config, log, options)
          : restoreInstanceOrWorkspace(config, log, options));
      } finally {
        await fetched?.close();
      }
    },
  }),
];

/** Reads only the first line. Editors end it with a line break, which is not part of the passphrase. */
function readPassphrase(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const passphrase = readTextFile(path).split('\n', 1)[0]!.trim();
  if (passphrase === '') throw new UsageError(`${path} does not contain a passphrase.`);
  return passphrase;
}

const embeddedDatabase = 'embedded';

/** The target of a move: the URL of a PostgreSQL database, or the embedded database. */
const moveTarget: ValueReader<string> = {
  shows: `<url|${embeddedDatabase}>`,
  mustBe: `postgres://user:password@host/database, or "${embeddedDatabase}" for the one in DATA_DIR`,
  read: (given) => (given === embeddedDatabase || /^postgres(ql)?:\/\/./.test(given) ? given : undefined),
};

const moveTargetOption: CommandOption<string | undefined> = {
  value: moveTarget,
  isRequired: true,
  unless: 'stay',
  about: 'The target: an empty database, or the one that this instance was moved away from.',
};

export const moveInstanceCommand = defineMachineCommand({
  name: 'move',
  summary: 'Moves the database of this instance: from the embedded PostgreSQL to your own, or back.',
  about:
    'Stop the service first. Files and the key stay where they are. If the move is interrupted, run it again: the copy is not used until this database is marked as moved. After that, the service no longer starts on this database. Set DATABASE_URL to the new one.',
  note: 'Set DATABASE_URL to the new database (leave it empty for the embedded one), and start the service.',
  options: {
    to: moveTargetOption,
    stay: { ...flagOption, about: 'Undoes the move: the service starts on this database again.' },
  },
  async run(context, input) {
    const { undoInstanceMove } = await import('#backup/move-instance.ts');
    if (!input.stay) return move(context, input.to!);
    if (input.to !== undefined) throw new UsageError('--stay cannot be combined with --to.');
    const here = await openHere(context);
    try {
      return await undoInstanceMove(here.database);
    } finally {
      await here.close();
    }
  },
});

async function openHere({ config, log }: MachineCommandContext) {
  const { openExistingDatabase } = await import('../database/open-database.ts');
  return openExistingDatabase(config, log);
}

async function move(context: MachineCommandContext, given: string): Promise<object> {
  const { config, log, report } = context;
  const databaseUrl = given === embeddedDatabase ? undefined : given;
  if (config.databaseUrl === undefined && databaseUrl === undefined)
    throw new UsageError('DATABASE_URL is not set, so this instance already uses the embedded database.');
  const { moveInstance } = await import('#backup/move-instance.ts');
  const { openEmptyDatabase } = await import('../database/open-database.ts');
  const { checkTargetDatabase } = await import('../checks/database-checks.ts');
  const from = await openHere(context);
  try {
    const to = await openEmptyDatabase({ ...config, databaseUrl }, log);
    try {
      await checkTargetDatabase({ config: { ...config, databaseUrl }, database: to.database });
      return await moveInstance({ from: from.database, to: to.database, place: to.description, report });
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}
