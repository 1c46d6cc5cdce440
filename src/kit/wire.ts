declare const meaning: unique symbol;
/** JSON text that stands for a T: what PostgreSQL or a writer by hand made, passed on unparsed. */
export type JsonText<T> = string & { readonly [meaning]: T };

/** Says what a JSON text stands for. Its writer is believed here, and held to it in tests (hold-reply.ts). */
export const jsonText = <T>(text: string): JsonText<T> => text as JsonText<T>;

/** What a T is once it was written as JSON: moments are text. */
type Wired<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wired<Item>[]
    : T extends object
      ? { [K in keyof T]: Wired<T[K]> }
      : T;

/** To the compiler what JSON.stringify will make of a value; at run time the value itself. */
export const wired = <T>(value: T): Wired<T> => value as Wired<T>;
