import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { newId } from './clock.ts';
import type { Config } from './config.ts';
import { type Database, transaction } from './database.ts';
import { only, statement } from './statement.ts';
import type { Storage } from './storage.ts';
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

/** One row, once a key was used (instance-key). Who would mark another storage at the same time waits. */
const lockStorageId = statement(
  'instance.lock_storage_id',
  '',
  'storage_id?',
  `select storage_id from instance for update`,
);

export const setStorageId = statement(
  'instance.set_storage_id',
  'storage_id?',
  '',
  `update instance set storage_id = $storage_id`,
);

export const selectStorageId = statement(
  'instance.select_storage_id',
  '',
  'storage_id?',
  `select storage_id from instance`,
);

/** Why this process must not work on a database: its files would lie where no other process finds them. */
export class InstanceStorageError extends Error {}

/** A storage, and where it is, for a person. */
type Place = { readonly storage: Storage; readonly place: string };

/** The key of the mark: no upload has it, as all of theirs begin with a workspace. A copy of all files takes it along. */
const markKey = 'instance-mark';
const markBytes = 36;

/**
 * Makes sure that a storage is the one that the database is used with: both have one mark, which the first start makes.
 * @param options.replaces makes this storage the one.
 * @throws InstanceStorageError with the remedy; also what the storage throws that cannot be asked.
 */
export async function claimStorage(
  database: Database,
  { storage, place }: Place,
  { replaces = false }: { replaces?: boolean } = {},
): Promise<void> {
  await transaction(database, async (client) => {
    const known = only(await lockStorageId(client, {}))?.storage_id ?? undefined;
    const found = await readMark(storage);
    if (!replaces) refuseOther(place, found, known);
    const mark = known ?? found ?? newId();
    if (found !== mark) await writeMark(storage, mark);
    if (known !== mark) await setStorageId(client, { storage_id: mark });
  });
}

/**
 * Makes a storage that of a database which was restored, with a mark of its own: whoever was used with it goes on no more where it is
 * started again, since what is deleted in one of two would be gone for both.
 */
export async function takeOverStorage(database: Database, storage: Storage): Promise<void> {
  // The first start marks what nobody was used with.
  if ((await readMark(storage)) === undefined) return;
  const mark = newId();
  await writeMark(storage, mark);
  await setStorageId(database, { storage_id: mark });
}

const writeMark = (storage: Storage, mark: string): Promise<unknown> =>
  storage.put(markKey, Readable.from([Buffer.from(mark)]), markBytes);

/** As claimStorage, where nothing is made. @throws InstanceStorageError, or what the storage throws. */
export async function checkStorage(database: Database, { storage, place }: Place): Promise<void> {
  const { is_there: isThere } = only(await findInstance(database, {}))!;
  const known = (isThere && only(await selectStorageId(database, {}))?.storage_id) || undefined;
  refuseOther(place, await readMark(storage), known);
}

async function readMark(storage: Storage): Promise<string | undefined> {
  const mark = await storage.open(markKey);
  return mark && (await text(mark));
}

function refuseOther(place: string, found: string | undefined, known: string | undefined): void {
  if (known === undefined || found === known) return;
  throw new InstanceStorageError(
    `The files of this instance do not lie in ${place}: the database is used with another storage. Start with the ` +
      'DATA_DIR or the S3_ENDPOINT of the other processes of this database; where files were copied, copy ' +
      `${markKey} too. If they are lost for good, \`npm run -s formloom -- storage replace\` goes on without them.` +
      (found === undefined
        ? ''
        : ' Or a copy of it that was restored has taken them over: if the instance is to go on here, stop it, and `storage replace` takes them back.'),
  );
}
