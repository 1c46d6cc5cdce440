import type { Request } from './load.ts';
import { markerWords } from './seed.ts';
import type { Site } from './site.ts';

/** One thing that is measured, as it is asked of the service and of the bare server. */
export type Case = {
  name: string;
  /** The share of the bare server's requests per second that the service should reach; undefined: none is set. */
  goal?: number;
  /** How many requests are under way at once; 32 and 1 unless said. */
  concurrencies?: readonly number[];
  service(site: Site): Request[];
  bare(site: Site): Request[];
};

const authorised = ({ key }: Site): Record<string, string> => ({ Authorization: `Bearer ${key}` });

/** Ids from all over the form, always the same. */
const someIds = ({ submissions }: Site): string[] =>
  Array.from({ length: 2_000 }, (_, index) => submissions[(index * 7_919) % submissions.length]!.id);

const searchFor = (word: string): Pick<Case, 'service' | 'bare'> => ({
  service: (site) => [
    { method: 'GET', path: `/api/v1/submissions/search?q=${word}`, headers: authorised(site) },
  ],
  bare: () => [{ method: 'GET', path: `/search?q=${word}` }],
});

/** Reading first: what is written changes what is read. */
export const cases: readonly Case[] = [
  {
    name: 'list',
    goal: 0.8,
    service: (site) => [
      { method: 'GET', path: `/api/v1/forms/${site.formId}/submissions`, headers: authorised(site) },
    ],
    bare: () => [{ method: 'GET', path: '/list' }],
  },
  {
    name: 'get',
    goal: 0.65,
    service: (site) =>
      someIds(site).map((id) => ({
        method: 'GET',
        path: `/api/v1/submissions/${id}`,
        headers: authorised(site),
      })),
    bare: (site) => someIds(site).map((id) => ({ method: 'GET', path: `/get/${id}` })),
  },
  ...Object.entries(markerWords).map(([name, { word }]) => ({
    name: `search-${name}`,
    ...searchFor(word),
    // A common word's matches are all ranked. 32 such searches at once wait longer than the 2 s after which a request
    // without a connection is answered 503.
    ...(name === 'common' && { concurrencies: [4, 1] }),
  })),
  {
    name: 'create',
    service: (site) => [
      {
        method: 'POST',
        path: '/api/v1/forms',
        headers: authorised(site),
        body: JSON.stringify({ structure: site.structure, publish: true }),
      },
    ],
    bare: (site) => [
      { method: 'POST', path: '/create', body: JSON.stringify({ structure: site.structure }) },
    ],
  },
  {
    name: 'submit',
    goal: 0.6,
    service: (site) => submits(site, `/f/${site.formId}`),
    bare: (site) => submits(site, '/submit'),
  },
];

const submits = ({ submissions }: Site, path: string): Request[] =>
  submissions
    .slice(0, 1_000)
    .map(({ answers }) => ({ method: 'POST', path, body: JSON.stringify({ answers }) }));
