import type { List } from './transport/call.ts';

/** A page of any list, as far as a reading of all goes by it. */
export type PageOf = {
  data: unknown[];
  pagination?: { page: number; total_pages: number };
  next_cursor?: string | null;
  next?: string;
  has_more?: boolean;
};

type Input = Readonly<Record<string, unknown>>;
type Turn = {
  /** What asks for the first page, where all are read. */
  first: Input;
  /** What asks for the page behind; undefined at the end. */
  next: (page: PageOf, input: Input) => Input | undefined;
};

const once: Turn = { first: {}, next: () => undefined };

/** How a list goes on, by the parameter with which it does. */
const turns: Readonly<Record<string, Turn>> = {
  // Without a gap and without a repeat while others write.
  cursor: {
    first: { cursor: '*', per_page: 100 },
    next: ({ next_cursor: cursor }) => (cursor ? { cursor } : undefined),
  },
  page: {
    first: { page: 1, per_page: 100 },
    next: ({ pagination: { page, total_pages: last } = { page: 0, total_pages: 0 } }) =>
      page < last ? { page: page + 1 } : undefined,
  },
  // Who waits for what comes reads on until they have had enough.
  after: {
    first: {},
    next: ({ next, has_more }, { wait }) => (has_more || wait ? { after: next } : undefined),
  },
};

/** A list that is read when somebody wants it: a page by `await`, all of it by `for await`. */
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
    // It is a promise to whoever awaits it.
    // oxlint-disable-next-line unicorn/no-thenable, promise/no-callback-in-promise
    then: (done, failed) => (page ??= read({})).then(done, failed),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
}
