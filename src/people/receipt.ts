import { createHash } from 'node:crypto';
import type { Gone } from '#submissions/erase/erase.ts';
import type { TraceKind } from './traces.ts';

/** Whole submissions, or the answers alone that tell who somebody is. */
export const erasedKinds = ['submissions', 'identity'] as const;
export type ErasedKind = (typeof erasedKinds)[number];

/** What stands on the list of an erasing: what was found, and files whose bytes follow. */
export type ErasureItemKind = TraceKind | 'file';

/** What is gone beside what a submission takes with it. */
const besides = ['spam', 'import_lines', 'kept_requests'] as const;
/** By kind, how much is gone; what is not there is none. */
export type ErasedCounts = Partial<Record<keyof Gone | (typeof besides)[number], number>>;

/** What the task of an erasing keeps of the request, and of what is done. */
export type ErasureInput = { what: ErasedKind };
export type ErasureResult = { gone: ErasedCounts; list_hash: string; hash?: string };

/** Every kind that a receipt counts, in its order. */
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

/** The sum of two. */
export const addCounts = (one: ErasedCounts, other: ErasedCounts): ErasedCounts =>
  Object.fromEntries(
    countedKinds.flatMap((kind) => {
      const sum = (one[kind] ?? 0) + (other[kind] ?? 0);
      return sum === 0 ? [] : [[kind, sum]];
    }),
  );

/** SHA-256, in hexadecimal, of a list of what was to be erased: `kind id` lines in their order. */
export const hashOfList = (items: readonly { kind: string; id: string }[]): string =>
  sha256(
    items
      .map(({ kind, id }) => `${kind} ${id}\n`)
      .sort()
      .join(''),
  );

type Receipt = {
  id: string;
  what: ErasedKind;
  created_at: Date;
  finished_at: Date;
  gone: ErasedCounts;
  list_hash: string;
};

/** SHA-256 of a receipt: of its JSON without blanks, with these names in this order and all counts. */
export const hashOfReceipt = ({ id, what, created_at, finished_at, gone, list_hash }: Receipt): string =>
  sha256(
    JSON.stringify({
      id,
      what,
      created_at: created_at.toISOString(),
      finished_at: finished_at.toISOString(),
      gone: everyCount(gone),
      list_hash,
    }),
  );

/** The counts with the zeros, in the order of a receipt. */
export const everyCount = (gone: ErasedCounts) =>
  Object.fromEntries(countedKinds.map((kind) => [kind, gone[kind] ?? 0])) as Record<
    (typeof countedKinds)[number],
    number
  >;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
