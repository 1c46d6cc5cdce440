import { type Static, Type } from 'typebox';
import { failedReason } from '#kit/validation.ts';
import type { BulkKind } from './works.ts';

/** All that is done with many. */
export const bulkKinds = [
  'trash',
  'empty',
  'remove',
  'tag',
  'status',
  'undo',
] as const satisfies readonly BulkKind[];
const timestamp = Type.String({ format: 'date-time' });

/** A change of many submissions, and how far it is. */
export const BulkChange = Type.Object({
  id: Type.String({ format: 'uuid' }),
  kind: Type.Enum([...bulkKinds], {
    description:
      'Into the trash, out of it for good, for good wherever they lie, tagged, given a status, or what another change did undone.',
  }),
  total: Type.Integer(),
  done: Type.Integer({
    description:
      'At the end it may be less than `total`: what is gone by then, or cannot become so, is skipped.',
  }),
  created_at: timestamp,
  finished_at: Type.Union([timestamp, Type.Null()]),
  failed_reason: failedReason,
});
export type BulkChange = Static<typeof BulkChange>;
