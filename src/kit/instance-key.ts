import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { newId } from './clock.ts';
import type { Config } from './config.ts';
import { type Database, transaction } from './database.ts';
import { onlyRow, statement } from './statement.ts';
import type { Storage } from './storage.ts';
import { findInstanceKey, InstanceKeyError, makeInstanceKey, openVault, type Vault } from './vault.ts';

/** Finds whether the database has the `instance` table. An empty database does not. */
export const findInstanceTable = statement('', 'is_there')`
  select to_regclass('instance') is not null as is_there`;

/** Returns at most one row, and none before a key was used. */
export const selectKeyFingerprint = statement('', 'key_fingerprint')`
  select key_fingerprint from instance`;

/** If several processes insert one, the first wins. */
const insertKeyFingerprint = statement('key_fingerprint', '')`
  insert into instance (key_fingerprint) values ($key_fingerprint) on conflict do nothing`;

export const updateKeyFingerprint = statement('key_fingerprint', '')`
  update instance set key_fingerprint = $key_fingerprint`;

const remedy =
  'If that key is permanently lost, run `npm run -s formloom -- instance-key replace`. It sets a new key and lists what was lost with the old one.';

/**
 * Opens the vault of an instance. The first process creates the key or reads SECRET_KEY, and the database
 * stores its fingerprint. With another key, sealed values could not be opened and signed links would be
 * rejected.
 * @param options.replaces makes the current key, or a new one, the key of the database.
 * @throws InstanceKeyError with the remedy if the key differs or is missing.
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

/**
 * Checks the instance key and creates nothing. A database without a key accepts any. @throws InstanceKeyError
 */
export async function checkInstanceKey(database: Database, config: Settings): Promise<void> {
  const known = onlyRow(await findInstanceTable(database, {}))!.is_there
    ? await findFingerprint(database)
    : undefined;
  const found = await findInstanceKey(config.dataDir, config.secretKey);
  refuseLostKey(config, found, known);
  if (found !== undefined && known !== undefined) refuseOtherKey(config, openVault(found), known);
}

const findFingerprint = async (database: Database): Promise<string | undefined> =>
  onlyRow(await selectKeyFingerprint(database, {}))?.key_fingerprint;

type Settings = Pick<Config, 'dataDir' | 'secretKey'>;

function refuseLostKey({ dataDir }: Settings, found: string | undefined, known: string | undefined): void {
  if (found !== undefined || known === undefined) return;
  throw new InstanceKeyError(
    `The key of this instance is missing: ${join(dataDir, 'secret.key')} does not exist, but the database uses a key. Restore the file from a backup, or set SECRET_KEY to its content. ${remedy}`,
  );
}

function refuseOtherKey({ dataDir, secretKey }: Settings, vault: Vault, known: string | undefined): void {
  if (known !== undefined && vault.derive('fingerprint').includes(known)) return;
  const given = secretKey ? 'SECRET_KEY' : `the key in ${join(dataDir, 'secret.key')}`;
  throw new InstanceKeyError(
    `The database uses a key other than ${given}, so its webhook secrets and the links that were sent could not be read. Use the key of the other processes of this database, or of its backup. ${remedy}`,
  );
}

/** Returns one row if a key was used. A process that marks another storage at the same time waits. */
const lockStorageId = statement('', 'storage_id?')`
  select storage_id from instance for update`;

export const setStorageId = statement('storage_id?', '')`
  update instance set storage_id = $storage_id`;

export const selectStorageId = statement('', 'storage_id?')`
  select storage_id from instance`;

/** Thrown if this process must not use a database, because other processes would not find its files. */
export class InstanceStorageError extends Error {}

/** A storage, and its location for display. */
type StorageLocation = { readonly storage: Storage; readonly place: string };

/** The key of the mark. Upload keys begin with a workspace instead. Copying all files also copies it. */
const markKey = 'instance-mark';
const markBytes = 36;

/**
 * Ensures that a storage belongs to the database: both have the same mark, which the first start creates.
 * @param options.replaces makes this storage the one of the database.
 * @throws InstanceStorageError with the remedy; also the error of an unavailable storage.
 */
export async function claimStorage(
  database: Database,
  { storage, place }: StorageLocation,
  { replaces = false }: { replaces?: boolean } = {},
): Promise<void> {
  await transaction(database, async (client) => {
    const known = onlyRow(await lockStorageId(client, {}))?.storage_id ?? undefined;
    const found = await readMark(storage);
    if (!replaces) refuseOther(place, found, known);
    const mark = known ?? found ?? newId();
    if (found !== mark) await writeMark(storage, mark);
    if (known !== mark) await setStorageId(client, { storage_id: mark });
  });
}

/**
 * Gives a storage to a restored database, with a new mark. The previous instance can no longer start with
 * this storage, because a deletion in one instance would remove the file for both.
 */
export async function reassignStorage(database: Database, storage: Storage): Promise<void> {
  // The first start marks an unused storage.
  if ((await readMark(storage)) === undefined) return;
  const mark = newId();
  await writeMark(storage, mark);
  await setStorageId(database, { storage_id: mark });
}

const writeMark = (storage: Storage, mark: string): Promise<unknown> =>
  storage.put(markKey, Readable.from([Buffer.from(mark)]), markBytes);

/** Checks like claimStorage, but writes nothing. @throws InstanceStorageError, or the storage's error. */
export async function checkStorageOwnership(
  database: Database,
  { storage, place }: StorageLocation,
): Promise<void> {
  const { is_there: isThere } = onlyRow(await findInstanceTable(database, {}))!;
  const known = (isThere && onlyRow(await selectStorageId(database, {}))?.storage_id) || undefined;
  refuseOther(place, await readMark(storage), known);
}

async function readMark(storage: Storage): Promise<string | undefined> {
  const mark = await storage.open(markKey);
  return mark && (await text(mark));
}

function refuseOther(place: string, found: string | undefined, known: string | undefined): void {
  if (known === undefined || found === known) return;
  throw new InstanceStorageError(
    `The files of this instance are not in ${place}: the database uses another storage. Start Formloom with the DATA_DIR or the S3_ENDPOINT that the other processes of this database use. If you copied the files, also copy ${markKey}. If the files are permanently lost, run \`npm run -s formloom -- storage replace\` to continue without them.` +
      (found === undefined
        ? ''
        : ' A restored copy of the instance may also have taken over the files. To continue here, stop the copy, and run `storage replace`.'),
  );
}
