import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Database } from '../database.ts';
import { only } from '../statement.ts';
import { findInstanceKey, makeInstanceKey, openVault, type Vault } from '../vault.ts';
import { insertKeyFingerprint, selectKeyFingerprint, updateKeyFingerprint } from './queries.ts';

/** Why this process must not work on a database: its key is not the one that the database is used with. */
export class InstanceKeyError extends Error {}

const remedy =
  'If that key is lost for good, `npm run -s formloom -- instance-key replace` goes on with another one and says what is lost with it.';

/**
 * The vault of an instance. The first process ever makes the key, or takes SECRET_KEY, and the database remembers its
 * fingerprint: with another key what is sealed could not be opened, and whoever has a signed link would be refused.
 * @param options.replaces makes the key of now, or a new one, the one that the database is used with.
 * @throws InstanceKeyError with the remedy when the key is another, or is gone.
 */
export async function openInstanceVault(
  database: Database,
  { dataDir, secretKey }: Pick<Config, 'dataDir' | 'secretKey'>,
  { replaces = false }: { replaces?: boolean } = {},
): Promise<Vault> {
  const find = async (): Promise<string | undefined> =>
    only(await selectKeyFingerprint(database, {}))?.key_fingerprint;
  const known = await find();
  const found = await findInstanceKey(dataDir, secretKey);
  if (found === undefined && known !== undefined && !replaces) {
    throw new InstanceKeyError(
      `The key of this instance is gone: ${join(dataDir, 'secret.key')} is not there, and the database is used with one. ` +
        `Restore the file from a backup, or set SECRET_KEY to what was in it. ${remedy}`,
    );
  }
  const vault = openVault(found ?? (await makeInstanceKey(dataDir)));
  const mine = { key_fingerprint: vault.derive('fingerprint') };
  if (known === undefined) await insertKeyFingerprint(database, mine);
  else if (replaces) await updateKeyFingerprint(database, mine);
  if ((await find()) === mine.key_fingerprint) return vault;
  const given = secretKey ? 'SECRET_KEY' : `the key in ${join(dataDir, 'secret.key')}`;
  throw new InstanceKeyError(
    `The database is used with another key than ${given}: secrets of webhooks could not be read with it, nor links that ` +
      `were given out. Start with the key of the other processes of this database, or of its backup. ${remedy}`,
  );
}
