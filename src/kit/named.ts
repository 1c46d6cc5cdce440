import type { TSchema } from 'typebox';

/**
 * Names a schema: the OpenAPI document has it once, as a component of this name, and refers to it wherever it is used.
 * To whoever checks with it nothing changes.
 */
export const named = <S extends TSchema>(name: string, schema: S): S =>
  Object.assign(schema, { 'x-component': name });
