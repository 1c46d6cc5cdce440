import { type Static, Type } from 'typebox';
import type { Answers } from '#ast/answers.ts';
import type { Form } from '#ast/tree.ts';
import { listOf } from '#kit/pagination.ts';
import { closed, uuid } from '#kit/validation.ts';
import { holdReasons } from './reasons.ts';

export const HeldPath = Type.Object({ id: uuid, held: uuid });

const ids = Type.Array(uuid, { minItems: 1, maxItems: 100, uniqueItems: true });
export const HeldSelection = Type.Object({ ids }, closed);
export const HeldDeletion = Type.Object(
  { ids: Type.Optional(ids), everything: Type.Optional(Type.Literal(true)) },
  closed,
);

const row = {
  id: uuid,
  reason: Type.Enum([...holdReasons]),
  answers: Type.Unsafe<Answers>(Type.Object({}, { additionalProperties: true })),
  created_at: Type.String({ format: 'date-time' }),
};

/** One of the spam box. Its files have no address: nobody opens what a suspicious sender uploaded before it is released. */
const HeldRow = Type.Object(row);
export type HeldRow = Static<typeof HeldRow>;

export const SpamPage = Type.Object({
  ...listOf(HeldRow).properties,
  sites: Type.Array(Type.Object({ origin: Type.String(), count: Type.Integer() }), {
    description:
      "Sites that the form's settings do not name, with how many of the spam box their pages sent.",
  }),
});
export type SpamPage = Static<typeof SpamPage>;

export const HeldDetail = Type.Object({
  ...row,
  reference: Type.Record(Type.String(), Type.String()),
  structure: Type.Unsafe<Form>({ 'x-component': 'Structure', description: 'The version that was answered.' }),
  origin: Type.Union([Type.String(), Type.Null()], {
    description:
      'The site whose page sent it, when that is why it is held; `null` as a text where its browser does not say it.',
  }),
  others: Type.Integer({ description: 'How many others of this spam box came from the same address.' }),
});
export type HeldDetail = Static<typeof HeldDetail>;

/** A site that is let in. */
export const Site = Type.Object({ origin: Type.String({ maxLength: 255 }) }, closed);

/** How many there still were, and are released or deleted now. */
export const Decided = Type.Object({ count: Type.Integer() });
