import { join } from 'node:path';
import type { Config } from './config.ts';
import type { Database } from './database.ts';
import { only, statement } from './statement.ts';
import { findInstanceKey, InstanceKeyError, makeInstanceKey, openVault, type Vault } from './vault.ts';

/** Whether a database says of itself what it is: an empty one does not yet. */
export const findInstance = statement(
  'instance.find_instance',
  '',
  'is_there',
  `select to_regclass('instance') is not null as is_there`,
);

/** At most one row; none in a database that no key was used with yet. */
export const selectKeyFingerprint = statement(
  'instance.select_key_fingerprint',
  '',
  'key_fingerprint',
  `select key_fingerprint from instance`,
);

/** Of several at once the first one stays. */
const insertKeyFingerprint = statement(
  'instance.insert_key_fingerprint',
  'key_fingerprint',
  '',
  `insert into instance (key_fingerprint) values ($key_fingerprint) on conflict do nothing`,
);

export const updateKeyFingerprint = statement(
  'instance.update_key_fingerprint',
  'key_fingerprint',
  '',
  `update instance set key_fingerprint = $key_fingerprint`,
);

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
  config: Settings,
  { replaces = false }: { replaces?: boolean } = {},
): Promise<Vault> {
  const { dataDir, secretKey } = config;
  const known = await findFingerprint(database);
  const found = await findInstanceKey(dataDir, secretKey);
  if (!replaces) refuseLostKey(config, found, known);
  const vault = openVault(found ?? (await makeInstanceKey(dataDir)));
  const mine = { key_fingerprint: vault.derive('fingerprint')[0] };
  if (known === undefined) await insertKeyFingerprint(database, mine);
  else if (replaces) await updateKeyFingerprint(database, mine);
  refuseOtherKey(config, vault, await findFingerprint(database));
  return vault;
}

/** The same, where nothing is made: a database that is used with no key yet takes any. @throws InstanceKeyError */
export async function checkInstanceKey(database: Database, config: Settings): Promise<void> {
  const known = only(await findInstance(database, {}))!.is_there
    ? await findFingerprint(database)
    : undefined;
  const found = await findInstanceKey(config.dataDir, config.secretKey);
  refuseLostKey(config, found, known);
  if (found !== undefined && known !== undefined) refuseOtherKey(config, openVault(found), known);
}

const findFingerprint = async (database: Database): Promise<string | undefined> =>
  only(await selectKeyFingerprint(database, {}))?.key_fingerprint;

type Settings = Pick<Config, 'dataDir' | 'secretKey'>;

function refuseLostKey({ dataDir }: Settings, found: string | undefined, known: string | undefined): void {
  if (found !== undefined || known === undefined) return;
  throw new InstanceKeyError(
    `The key of this instance is gone: ${join(dataDir, 'secret.key')} is not there, and the database is used with one. ` +
      `Restore the file from a backup, or set SECRET_KEY to what was in it. ${remedy}`,
  );
}

function refuseOtherKey({ dataDir, secretKey }: Settings, vault: Vault, known: string | undefined): void {
  if (known !== undefined && vault.derive('fingerprint').includes(known)) return;
  const given = secretKey ? 'SECRET_KEY' : `the key in ${join(dataDir, 'secret.key')}`;
  throw new InstanceKeyError(
    `The database is used with another key than ${given}: secrets of webhooks could not be read with it, nor links that ` +
      `were given out. Start with the key of the other processes of this database, or of its backup. ${remedy}`,
  );
}
