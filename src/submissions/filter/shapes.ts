import { type Static, Type } from 'typebox';

const closed = { additionalProperties: false } as const;
const element = Type.String({ minLength: 1, maxLength: 64 });
const word = Type.String({ maxLength: 10_000 });
const end = Type.Union([Type.Number(), Type.String({ maxLength: 32 })]);

/** Bars of the summary that no `where` can express: of files, of rankings, and of questions in rows. */
export const Counted = Type.Union([
  Type.Object({ element, by: Type.Literal('file'), value: word }, closed),
  Type.Object({ element, by: Type.Literal('first'), value: word }, closed),
  Type.Object({ element, by: Type.Literal('rows'), from: Type.Number(), to: Type.Number() }, closed),
  Type.Object({ element, by: Type.Literal('option'), value: Type.Union([word, Type.Boolean()]) }, closed),
  Type.Object({ element, by: Type.Literal('text'), value: word }, closed),
  Type.Object({ element, by: Type.Literal('span'), from: end, to: end }, closed),
  Type.Object({ element, by: Type.Literal('answered') }, closed),
]);
export type Counted = Static<typeof Counted>;
