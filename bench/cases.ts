import type { Request } from './load.ts';
import { markerTag, markerWords, oldWord } from './seed.ts';
import type { Site } from './site.ts';

/** A measured case: its requests to the service and, if it has a goal, to the bare server. */
export type Case = {
  name: string;
  /** The share of the bare server's requests per second that the service should reach; undefined: none is set. */
  goal?: number;
  /** The limit for p99 in ms, with 100,000 submissions and sequential requests. */
  mostMs?: number;
  /** The numbers of concurrent requests. Default: 32 and 1. */
  concurrencies?: readonly number[];
  service(site: Site): Request[];
  bare?(site: Site): Request[];
  /** Requests to the service itself, measured in turn with the case if the bare server has no equivalent. */
  beside?: ((site: Site) => Request[]) | undefined;
};

const authorised = ({ key }: Site): Record<string, string> => ({ Authorization: `Bearer ${key}` });

/** Returns ids spread over the first form, the same ones every time. */
const someIds = (site: Site): string[] =>
  Array.from({ length: 2_000 }, (_, index) => site.submissionAt(2 * ((index * 7_919) % (site.count / 2))).id);

const pageSize = 20;

/** Returns the last page of the first form, which has half of all submissions. */
const lastPage = ({ count }: Site): number => Math.ceil(count / 2 / pageSize);

const listCase = (name: string, pageOf: (site: Site) => number, status?: string): Case => ({
  name,
  goal: 0.8,
  service: (site) => [
    {
      method: 'GET',
      path: `/api/v1/forms/${site.formId}/submissions?page=${pageOf(site)}${status ? `&status=${status}` : ''}`,
      headers: authorised(site),
    },
  ],
  bare: (site) => [
    {
      method: 'GET',
      path: `/list?workspace=${site.workspaceId}&form=${site.formId}&offset=${(pageOf(site) - 1) * pageSize}${status ? `&status=${status}` : ''}`,
    },
  ],
});

export const searchCase = (name: string, q: string, formOf?: (site: Site) => string): Case => ({
  name: `search-${name}`,
  concurrencies: [32, 8, 1],
  service: (site) => [
    {
      method: 'GET',
      path: `/api/v1/submissions/search?q=${encodeURIComponent(q)}${formOf ? `&form_id=${formOf(site)}` : ''}`,
      headers: authorised(site),
    },
  ],
  bare: (site) => [
    {
      method: 'GET',
      path: `/search?workspace=${site.workspaceId}&q=${encodeURIComponent(q)}${formOf ? `&form=${formOf(site)}` : ''}`,
    },
  ],
});

const asking =
  (question: Record<string, string>) =>
  (site: Site): Request[] => [
    {
      method: 'GET',
      path: `/api/v1/submissions/search?${new URLSearchParams(question).toString()}`,
      headers: authorised(site),
    },
  ];

/**
 * A search with operators, for which the bare server has no statement. It is compared with plain words that
 * find at least as many submissions.
 */
const grammarCase = (name: string, question: Record<string, string>, words: string): Case => ({
  name: `search-${name}`,
  mostMs: 60,
  concurrencies: [8, 1],
  service: asking(question),
  beside: asking({ q: words }),
});

const consoleCase = (name: string, question: string, concurrencies: readonly number[]): Case => ({
  name: `console-${name}`,
  concurrencies,
  service: (site) => [
    {
      method: 'GET',
      path: `/api/v1/forms/${site.formId}/${question}`,
      headers: authorised(site),
    },
  ],
});

const { rare, medium, frequent, common } = markerWords;
const json = { 'Content-Type': 'application/json' };

/** Reading cases run first, because writing changes what they read. */
export const cases: readonly Case[] = [
  listCase('list', () => 1),
  listCase('list-page-500', (site) => Math.min(500, lastPage(site))),
  listCase('list-last-page', lastPage),
  listCase('list-status', () => 1, 'completed'),
  {
    name: 'get',
    goal: 0.65,
    service: (site) =>
      someIds(site).map((id) => ({
        method: 'GET',
        path: `/api/v1/submissions/${id}`,
        headers: authorised(site),
      })),
    bare: (site) =>
      someIds(site).map((id) => ({ method: 'GET', path: `/get/${id}?workspace=${site.workspaceId}` })),
  },
  searchCase('rare', rare.word),
  searchCase('medium', medium.word),
  searchCase('frequent', frequent.word),
  searchCase('common', common.word),
  searchCase('old', oldWord),
  searchCase('two-words', `${common.word} ${frequent.word}`),
  searchCase('two-words-apart', `${medium.word} ${oldWord}`),
  searchCase('three-words', `${common.word} ${frequent.word} ${medium.word}`),
  grammarCase('phrase', { q: `"${medium.word} ${oldWord}"` }, `${medium.word} ${oldWord}`),
  grammarCase(
    'phrase-of-many',
    { q: `"${common.word} ${frequent.word}"` },
    `${common.word} ${frequent.word}`,
  ),
  grammarCase('not', { q: `${common.word} -${frequent.word}` }, common.word),
  grammarCase('beginning', { q: `${medium.word.slice(0, 4)}*` }, medium.word),
  // Every submission has a matching address, so this case examines the most rows.
  grammarCase('mail-domain', { q: 'email:example.com' }, common.word),
  grammarCase('status', { q: `${frequent.word} status:incomplete` }, frequent.word),
  grammarCase('tag', { q: `${common.word} tag:${markerTag.tag}` }, common.word),
  grammarCase('tag-alone', { q: `tag:${markerTag.tag}` }, common.word),
  grammarCase('before', { q: `${common.word} before:2024-01-02` }, common.word),
  grammarCase('after', { q: `${common.word} after:2024-01-02` }, common.word),
  grammarCase('element', { q: `message:${frequent.word}` }, frequent.word),
  grammarCase('hits', { q: frequent.word, include: 'hits' }, frequent.word),
  grammarCase('typo', { q: `${rare.word.slice(0, -2)}zz`, typos: 'true' }, rare.word),
  grammarCase('first-letter', { q: `z${rare.word.slice(1)}`, typos: 'true' }, rare.word),
  searchCase('in-large-form', common.word, ({ formId }) => formId),
  searchCase('in-small-form', frequent.word, ({ otherFormId }) => otherFormId),
  consoleCase('table', 'rows', [8, 1]),
  consoleCase('sorted', 'rows?sort=people', [1]),
  consoleCase('sorted-by-two', 'rows?sort=topic,-subject', [1]),
  consoleCase('search', `rows?q=${medium.word}`, [1]),
  consoleCase('summary', 'summary?time_zone=Europe%2FBerlin', [1]),
  consoleCase('summary-all', 'summary?time_zone=Europe%2FBerlin&sample=all', [1]),
  {
    name: 'public-page',
    goal: 0.7,
    service: (site) => [{ method: 'GET', path: `/f/${site.formId}` }],
    bare: (site) => [{ method: 'GET', path: `/page?like=${encodeURIComponent(`/f/${site.formId}`)}` }],
  },
  {
    name: 'create',
    goal: 0.6,
    service: (site) => [
      {
        method: 'POST',
        path: '/api/v1/forms',
        headers: { ...authorised(site), ...json },
        body: JSON.stringify({ structure: site.structure, publish: true }),
      },
    ],
    bare: (site) => [
      {
        method: 'POST',
        path: `/create?workspace=${site.workspaceId}`,
        body: JSON.stringify({ structure: site.structure }),
      },
    ],
  },
  {
    name: 'submit',
    goal: 0.6,
    concurrencies: [128, 32, 1],
    service: (site) => submits(site, `/f/${site.formId}`),
    bare: bareSubmits,
  },
  {
    name: 'submit-urlencoded',
    goal: 0.6,
    service: (site) => submits(site, `/f/${site.formId}`, asUrlencoded),
    bare: bareSubmits,
  },
  {
    name: 'submit-1-mb-file',
    concurrencies: [8, 1],
    service: (site) => submits(site, `/f/${site.otherFormId}`, withFile).slice(0, 20),
  },
];

type Answers = Readonly<Record<string, string | number | boolean>>;
type Written = { headers: Readonly<Record<string, string>>; body: string };

const asJson = (answers: Answers): Written => ({ headers: json, body: JSON.stringify({ answers }) });

/** Encodes answers as a program posts a form; the response is small in every format. */
const asUrlencoded = (answers: Answers): Written => ({
  headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
  body: new URLSearchParams(textsOf(answers)).toString(),
});

const boundary = 'a-boundary-of-the-benchmark';

function withFile(answers: Answers): Written {
  const parts = textsOf(answers).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="attachment"; filename="notes.txt"\r\nContent-Type: text/plain\r\n\r\n${'A line of a file.\n'.repeat(58_254)}\r\n`;
  return {
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}`, Accept: 'application/json' },
    body: `${parts.join('')}${file}--${boundary}--\r\n`,
  };
}

/** Converts answers to text as a page sends them. */
const textsOf = (answers: Answers): [string, string][] =>
  Object.entries(answers).map(([name, value]) => [
    name,
    typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value),
  ]);

const submits = (site: Site, path: string, write: (answers: Answers) => Written = asJson): Request[] =>
  Array.from({ length: 1_000 }, (_, index) => ({
    method: 'POST',
    path,
    ...write(site.submissionAt(2 * index).answers),
  }));

function bareSubmits(site: Site): Request[] {
  return submits(site, `/submit?workspace=${site.workspaceId}&form=${site.formId}`);
}
