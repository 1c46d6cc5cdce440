declare const meaning: unique symbol;
/** JSON text that stands for a T: what PostgreSQL or a writer by hand made, passed on unparsed. */
export type JsonText<T> = string & { readonly [meaning]: T };

/** Says what a JSON text stands for. Its writer is believed here, and held to it in tests (hold-reply.ts). */
export const jsonText = <T>(text: string): JsonText<T> => text as JsonText<T>;

/** A list as JSON, whose items are text already: they go out one by one, as all of them may be too long for one turn. */
export type JsonList<T> = {
  readonly items: readonly string[];
  /** What stands behind `"data":[…]`. */
  readonly ends: string;
  readonly [meaning]?: T;
};

/** Says what a list of JSON texts stands for. */
export const jsonList = <List extends { data: unknown[] }>(
  items: readonly JsonText<List['data'][number]>[],
  ends: Omit<List, 'data'>,
): JsonList<List> => ({ items, ends: JSON.stringify({ data: 0, ...ends }).slice(9) });

/** What an operation answers, as JSON text; undefined where it answers none. */
export function textOf({
  json,
  body,
}: {
  json?: string | JsonList<unknown> | undefined;
  body?: unknown;
}): string | undefined {
  if (typeof json === 'object') return `${beginning}${json.items.join(',')}]${json.ends}`;
  return json ?? (body === undefined ? undefined : JSON.stringify(body));
}

const beginning = '{"data":[';

/** The text of a list in parts. */
export function* partsOf({ items, ends }: JsonList<unknown>): Generator<string> {
  let before = beginning;
  for (const item of items) {
    yield before + item;
    before = ',';
  }
  yield `${items.length === 0 ? beginning : ''}]${ends}`;
}

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
