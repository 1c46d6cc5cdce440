import { statement } from '../statement.ts';

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
export const insertKeyFingerprint = statement(
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
