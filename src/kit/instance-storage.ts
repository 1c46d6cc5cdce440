import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { newId } from './clock.ts';
import { type Database, transaction } from './database.ts';
import { only, statement } from './statement.ts';
import type { Storage } from './storage.ts';
import { findInstance } from './instance-key.ts';

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
