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

export const SpamPage = Type.Object({
  data: Type.Array(HeldRow),
  pagination: Pagination,
  /** Sites that the form's settings do not name, with how many of the spam box their pages sent. */
  sites: Type.Array(Type.Object({ origin: Type.String(), count: Type.Integer() })),
});
export type SpamPage = Static<typeof SpamPage>;

export const HeldDetail = Type.Object({
  ...row,
  reference: Type.Record(Type.String(), Type.String()),
  /** The version that was answered. */
  structure: Type.Unsafe<Form>(Type.Object({})),
  /** The site whose page sent it, when that is why it is held; `null` as a text where its browser does not say it. */
  origin: Type.Union([Type.String(), Type.Null()]),
  /** How many others of this spam box came from the same address. */
  others: Type.Integer(),
});
export type HeldDetail = Static<typeof HeldDetail>;

/** A site that is let in. */
export const SiteRequest = Type.Object({ origin: Type.String({ maxLength: 255 }) }, closed);

/** How many there still were, and are released or deleted now. */
export const SpamDecided = Type.Object({ count: Type.Integer() });
export type SpamDecided = Static<typeof SpamDecided>;
