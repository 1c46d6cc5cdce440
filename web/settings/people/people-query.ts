import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { InputOf, ReplyOf } from '#app/operations.ts';
import { call } from '../../api/operations.ts';

export type Trace = ReplyOf<'findPerson'>['data'][number];
export type Erasure = ReplyOf<'getErasure'>;
/** Who is looked for, and how. */
export type Question = { q: string; match: NonNullable<InputOf<'findPerson'>['query']['match']> };

const perPage = 25;

/** What is found of a person: nothing of it outlives the screen, and no address of the browser has it. */
export const traceQuery = (workspace: string, question: Question | undefined, page: number) =>
  queryOptions({
    queryKey: ['people', workspace, question, page],
    queryFn: () => call(workspace, 'findPerson', { query: { ...question!, page, per_page: perPage } }),
    enabled: question !== undefined,
    // Over the pages of one question: of another person nothing of this is so.
    placeholderData: (before, query) => (query?.queryKey[2] === question ? before : undefined),
    staleTime: 0,
    gcTime: 0,
  });

/** Whether it goes on by itself. */
export const isErasing = ({ finished_at, failed_reason }: Erasure): boolean =>
  finished_at === null && failed_reason === null;

/** An erasing, asked for again until it is finished. */
export const erasureQuery = (workspace: string, id: string | undefined) =>
  queryOptions({
    queryKey: ['erasures', workspace, 'one', id],
    queryFn: () => call(workspace, 'getErasure', { params: { id: id! } }),
    enabled: id !== undefined,
    refetchInterval: ({ state: { data } }) => (data && isErasing(data) ? 1_000 : false),
  });

export const erasuresQuery = (workspace: string, page: number) =>
  queryOptions({
    queryKey: ['erasures', workspace, 'page', page],
    queryFn: () => call(workspace, 'listErasures', { query: { page, per_page: perPage } }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.data.some(isErasing) ? 1_000 : false),
  });
