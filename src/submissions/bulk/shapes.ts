import { type Static, Type } from 'typebox';
import type { BulkKind } from './queries.ts';

const kinds = ['trash', 'empty', 'remove', 'tag'] as const satisfies readonly BulkKind[];
const timestamp = Type.String({ format: 'date-time' });

/** A change of many submissions, and how far it is. */
export const BulkChange = Type.Object({
  id: Type.String({ format: 'uuid' }),
  kind: Type.Enum([...kinds], {
    description: 'Into the trash, out of it for good, for good wherever they lie, or tagged.',
  }),
  total: Type.Integer(),
  done: Type.Integer({
    description: 'At the end it may be less than `total`: what is gone by then is skipped.',
  }),
  created_at: timestamp,
  finished_at: Type.Union([timestamp, Type.Null()]),
});
export type BulkChange = Static<typeof BulkChange>;
