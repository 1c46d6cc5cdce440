import { createHash } from 'node:crypto';
import type { DeletedCounts } from '#submissions/erase/erase.ts';
import type { PersonRecordKind } from './person-records.ts';

/** The scope of an erasure: whole submissions, or only the answers that identify the person. */
export const erasureScopes = ['submissions', 'identity'] as const;
export type ErasureScope = (typeof erasureScopes)[number];

/** The kinds of items on an erasure's list: records, and files whose bytes are deleted after them. */
export type ErasureItemKind = PersonRecordKind | 'file';

/** The kinds of data that are erased in addition to submissions and their related data. */
const unlistedKinds = ['spam', 'import_lines', 'kept_requests'] as const;
/** The number of erased records of each kind; a missing kind means none. */
export type ErasedCounts = Partial<Record<keyof DeletedCounts | (typeof unlistedKinds)[number], number>>;

/** The input and result that the task of an erasure stores. */
export type ErasureInput = { what: ErasureScope };
export type ErasureResult = { gone: ErasedCounts; list_hash: string; hash?: string };

/** The kinds that a receipt counts, in its order. */
export const countedKinds = [
  'submissions',
  'stripped',
  'spam',
  'files',
  'notes',
  'changes',
  'links',
  'events',
  'deliveries',
  'mails',
  'invitations',
  'import_lines',
  'kept_requests',
] as const satisfies readonly (keyof ErasedCounts)[];

export const addCounts = (one: ErasedCounts, other: ErasedCounts): ErasedCounts =>
  Object.fromEntries(
    countedKinds.flatMap((kind) => {
      const sum = (one[kind] ?? 0) + (other[kind] ?? 0);
      return sum === 0 ? [] : [[kind, sum]];
    }),
  );

/** Returns the hexadecimal SHA-256 of a list of records: sorted `kind id` lines. */
export const hashErasureList = (items: readonly { kind: string; id: string }[]): string =>
  sha256(
    items
      .map(({ kind, id }) => `${kind} ${id}\n`)
      .sort()
      .join(''),
  );

type Receipt = {
  id: string;
  what: ErasureScope;
  created_at: Date;
  finished_at: Date;
  gone: ErasedCounts;
  list_hash: string;
};

/**
 * Returns the SHA-256 of a receipt, computed from its JSON without whitespace, with these names in this order
 * and all counts.
 */
export const hashOfReceipt = ({ id, what, created_at, finished_at, gone, list_hash }: Receipt): string =>
  sha256(
    JSON.stringify({
      id,
      what,
      created_at: created_at.toISOString(),
      finished_at: finished_at.toISOString(),
      gone: withZeroCounts(gone),
      list_hash,
    }),
  );

/** Returns all counts, including zeros, in the order of a receipt. */
export const withZeroCounts = (gone: ErasedCounts) =>
  Object.fromEntries(countedKinds.map((kind) => [kind, gone[kind] ?? 0])) as Record<
    (typeof countedKinds)[number],
    number
  >;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
