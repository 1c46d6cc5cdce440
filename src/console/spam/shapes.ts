import { type Static, Type } from 'typebox';
import type { Answers } from '#ast/answers.ts';
import type { Form } from '#ast/tree.ts';
import { pageParameters, Pagination } from '#kit/pagination.ts';
import { holdReasons } from '#submissions/held/reasons.ts';

const uuid = Type.String({ format: 'uuid' });
const closed = { additionalProperties: false } as const;

/** Path parameters below `/workspaces/:workspace/forms/:form/spam`. */
export const SpamPath = Type.Object({ form: uuid });
export const HeldPath = Type.Object({ form: uuid, held: uuid });

export const SpamQuery = Type.Object(pageParameters, closed);

/** Which are released, or deleted: at most a page of them. */
export const SpamSelection = Type.Object(
  { ids: Type.Array(uuid, { minItems: 1, maxItems: 100, uniqueItems: true }) },
  closed,
);

const row = {
  id: uuid,
  reason: Type.Enum([...holdReasons]),
  answers: Type.Unsafe<Answers>(Type.Object({})),
  created_at: Type.String({ format: 'date-time' }),
};

/** One of the spam box. Its files have no address: nobody opens what a suspicious sender uploaded before it is released. */
export const HeldRow = Type.Object(row);
export type HeldRow = Static<typeof HeldRow>;

export const SpamPage = Type.Object({ data: Type.Array(HeldRow), pagination: Pagination });
export type SpamPage = Static<typeof SpamPage>;

export const HeldDetail = Type.Object({
  ...row,
  reference: Type.Record(Type.String(), Type.String()),
  /** The version that was answered. */
  structure: Type.Unsafe<Form>(Type.Object({})),
  /** How many others of this spam box came from the same address. */
  others: Type.Integer(),
});
export type HeldDetail = Static<typeof HeldDetail>;

/** How many there still were, and are released or deleted now. */
export const SpamDecided = Type.Object({ count: Type.Integer() });
export type SpamDecided = Static<typeof SpamDecided>;
