import { type TSchema, Type } from 'typebox';

export const uuid = Type.String({ format: 'uuid' });
export const timestamp = Type.String({ format: 'date-time' });
export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
/** Of work that goes on in the background. */
export const failedReason = Type.Union([Type.String(), Type.Null()], {
  description: 'Why it stopped before its end and does not go on by itself; `null` otherwise.',
});
/** Of an object that is sent: another property is refused. */
export const closed = { additionalProperties: false } as const;
