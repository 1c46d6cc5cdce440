import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { type JsonList, textOf } from './wire.ts';

/** What is wrong with a value; nothing of a good one. */
type Check = (sent: unknown) => string[];
type Held = { body?: unknown; json?: string | JsonList<unknown>; stream?: unknown };
type Shape = { readonly status: number; readonly schema?: TSchema; readonly content?: readonly string[] };

/**
 * Compiles what holds an operation's answers against its declared reply: of JSON every field, those that it has too many
 * as well. It costs a multiple of the request: tests switch it on (CHECK_REPLIES).
 */
export function compileReply(shape: Shape): (answer: Held) => void {
  let check: Check | undefined;
  return ({ stream, ...answer }) => {
    const text = textOf(answer);
    if (
      (text === undefined) !== (shape.schema === undefined) ||
      (stream === undefined) !== (shape.content === undefined)
    )
      throw new Error('The answer has not the kind of content that is declared.');
    if (text === undefined) return;
    // As it goes to the wire: dates are text, and what is undefined is not there.
    const sent = JSON.parse(text) as unknown;
    check ??= checkOf(closed(shape.schema) as TSchema);
    const found = check(sent);
    if (found.length > 0) throw new Error(`The answer is not as declared: ${found.slice(0, 5).join('; ')}.`);
  };
}

/** A function, as to compare the library's types of two schemas takes the compiler a second. */
function checkOf(schema: TSchema): Check {
  const compiled = Compile(schema);
  return (sent) => {
    if (compiled.Check(sent)) return [];
    const [, errors] = compiled.Errors(sent);
    return errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
  };
}

/** The same schema, in which an object that does not say otherwise has no more than its properties. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isOpen =
    !('properties' in schema) || 'additionalProperties' in schema || 'patternProperties' in schema;
  return isOpen ? copy : { ...copy, additionalProperties: false };
}
