import type { List } from './transport/call.ts';

/** A page of any list, with the fields that reading all pages needs. */
export type PageOf = {
  data: unknown[];
  pagination?: { page: number; total_pages: number };
  next_cursor?: string | null;
  next?: string;
  has_more?: boolean;
};

type Input = Readonly<Record<string, unknown>>;
type Turn = {
  /** The input for the first page when all pages are read. */
  first: Input;
  /** Returns the input for the next page; undefined at the end. */
  next: (page: PageOf, input: Input) => Input | undefined;
};

const once: Turn = { first: {}, next: () => undefined };

/** How to request the next page of a list, by the name of its paging parameter. */
const turns: Readonly<Record<string, Turn>> = {
  // Neither skips nor repeats items if other clients change the list in the meantime.
  cursor: {
    first: { cursor: '*', per_page: 100 },
    next: ({ next_cursor: cursor }) => (cursor ? { cursor } : undefined),
  },
  page: {
    first: { page: 1, per_page: 100 },
    next: ({ pagination: { page, total_pages: last } = { page: 0, total_pages: 0 } }) =>
      page < last ? { page: page + 1 } : undefined,
  },
  // With `wait`, reading continues until the caller stops.
  after: {
    first: {},
    next: ({ next, has_more }, { wait }) => (has_more || wait ? { after: next } : undefined),
  },
};

/** Returns a lazy list: one page with `await`, all items with `for await`. */
export function listOf(turn: string, input: Input, read: (more: Input) => Promise<PageOf>): List<PageOf> {
  const { first, next } = turns['page' in input ? 'page' : turn] ?? once;
  async function* pages(): AsyncGenerator<PageOf, void, undefined> {
    let more: Input | undefined = { ...first, ...input };
    while (more) {
      const page: PageOf = await read(more);
      yield page;
      const behind: Input | undefined = next(page, input);
      more = behind && { ...more, ...behind };
    }
  }
  let page: Promise<PageOf> | undefined;
  return {
    // Makes the list awaitable.
    // oxlint-disable-next-line unicorn/no-thenable, promise/no-callback-in-promise
    then: (done, failed) => (page ??= read({})).then(done, failed),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
}
