import { statement } from '../statement.ts';

/** One row, once a key was used (instance-key). Who would mark another storage at the same time waits. */
export const lockStorageId = statement(
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
