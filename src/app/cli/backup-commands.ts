import { resolve } from 'node:path';
import { sayCount } from '#ast/say-count.ts';
import { openStorage } from '#kit/open-storage.ts';
import { fetchBackup } from '#backup/schedule.ts';
import { findInstanceKey } from '#kit/vault.ts';
import { version } from '../version.ts';
import { type Command, command, flag, machineCommand, optional, PartlyDone } from './command.ts';
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
      const { restore, tryRestore } = await import('../restore.ts');
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
