import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { Pool } from 'pg';
import { newId, timeOfId } from '#kit/clock.ts';
import { wordsOnlyParameters } from '#search/search-sql.ts';
import { compileWords } from '#search/search-words.ts';
import { indexSubmission } from '#submissions/search-text/document.ts';
import { loadStatements } from '#test/load-statements.ts';

/*
 * The baseline of the benchmark: node:http and pg with the service's own SQL on the same database. It has no
 * authentication, limits, validation or error handling. Its requests per second are what Node and PostgreSQL
 * leave to a service.
 */

/** Passed as JSON in the first argument. */
export type BareOptions = { databaseUrl: string; serviceUrl: string };

const statements = await loadStatements();
const { databaseUrl, serviceUrl } = JSON.parse(process.argv[2]!) as BareOptions;
const pool = new Pool({
  connectionString: databaseUrl,
  max: 10,
  onConnect: (client) => void client.query('set plan_cache_mode = force_generic_plan'),
});

type Row = Record<string, unknown>;

/** Returns a function that runs the service's statement with this text, prepared as the service does. */
function declared(...fragments: RegExp[]): (values: Row) => Promise<Row[]> {
  const found = statements.filter(({ text }) => fragments.every((fragment) => fragment.test(text)));
  if (found.length !== 1)
    throw new Error(`the service has ${found.length} statements with ${fragments.join()}`);
  const { name, text, parameters } = found[0]!;
  const names = Object.keys(parameters);
  return async (values) =>
    (await pool.query<Row>({ name, text, values: names.map((each) => values[each]) })).rows;
}

const ofList = /^select count\.total, s\.id, s\.workspace_id/;
const list = declared(ofList, /trashed_at is null\s+and \$/);
const listByStatus = declared(ofList, /trashed_at is null\s+and p\.status/);
const get = declared(/^select s\.id, s\.workspace_id[^]* and s\.id = \$2::uuid/);
const search = declared(
  /total as materialized/,
  /unnest\(\$5::integer\[\]/,
  /^(?![^]*\(' \|\| question\.exact)/,
);
const create = declared(/insert into forms \(/);
const insert = declared(/live_version_in_turn\(\$1::uuid[^]*insert into submissions \(/);
const readDown = declared(/p\.answers::text as answers[^]*\$\d+::text is null order by p\.id desc/);

/** JSON columns are inserted unchanged; other values are quoted. */
const submission = (row: Row): string => {
  const { id, form_id, status, form_name, completed_at, created_at, answers, fields, reference } =
    row as Record<string, string>;
  const own = JSON.stringify({ id, form_id, status, completed_at, created_at });
  return `${own.slice(0, -1)},"answers":${answers},"metadata":{"fields":${fields},"form_name":${JSON.stringify(form_name)},"reference":${reference}}}`;
};
const page = (rows: Row[]): string =>
  `{"data":[${rows.map(submission).join(',')}],"pagination":${JSON.stringify({ total_count: rows[0]?.['total'] ?? 0 })}}`;

const pages = new Map<string, string>();
const placeIn = (parameters: URLSearchParams): Row => ({
  workspace_id: parameters.get('workspace'),
  form_id: parameters.get('form'),
});

/** Handlers by the first segment of the path. */
const answers: Record<string, (url: URL, body: string) => Promise<string>> = {
  async list({ searchParams }) {
    const status = searchParams.get('status');
    return page(
      await (status ? listByStatus : list)({
        ...placeIn(searchParams),
        status,
        limit: 20,
        offset: Number(searchParams.get('offset')),
      }),
    );
  },
  async get({ pathname, searchParams }) {
    const { workspace_id } = placeIn(searchParams);
    const [row] = await get({ workspace_id, id: pathname.slice('/get/'.length) });
    return submission(row!);
  },
  async search({ searchParams }) {
    return page(
      await search({
        ...wordsOnlyParameters,
        workspace_id: searchParams.get('workspace'),
        form_ids: searchParams.has('form') ? [searchParams.get('form')] : null,
        ...compileWords(searchParams.get('q')!),
        limit: 20,
        offset: 0,
      }),
    );
  },
  /** The bytes of a page of the service, fetched once. */
  async page({ searchParams }) {
    const path = searchParams.get('like')!;
    const known = pages.get(path) ?? (await (await fetch(serviceUrl + path)).text());
    pages.set(path, known);
    return known;
  },
  async create({ searchParams }, body) {
    const { structure } = JSON.parse(body) as { structure: { attrs: { name: string } } };
    const id = newId();
    const [row] = await create({
      workspace_id: placeIn(searchParams).workspace_id,
      id,
      name: structure.attrs.name,
      description: '',
      status: 'published',
      settings: {},
      password_hash: null,
      language: 'english',
      structure: JSON.stringify(structure),
      fields: {},
      labels: [],
      created_at: timeOfId(id),
    });
    return JSON.stringify({ ...row, structure });
  },
  async submit({ searchParams }, body) {
    const given = (JSON.parse(body) as { answers: Record<string, unknown> }).answers;
    const id = newId();
    const { subject, ...rest } = given;
    await insert({
      ...placeIn(searchParams),
      id,
      version: 1,
      live_version: null,
      status: 'completed',
      answers: JSON.stringify(given),
      reference: '{}',
      has_files: false,
      created_at: timeOfId(id),
      completed_at: timeOfId(id),
      ...indexSubmission({ subject: String(subject), body: Object.values(rest).join(' ') }, 'english'),
    });
    return JSON.stringify({ id });
  },
};

/** The number of rows that an export of the service reads in one round trip. */
const exportedAtOnce = 500;

/**
 * Yields the rows of an export as lines, with columns unchanged and unquoted. Reads the next rows while these
 * are sent.
 */
async function* exportLines({ searchParams }: URL): AsyncGenerator<string> {
  const from_id = '00000000-0000-0000-0000-000000000000';
  const readBefore = (to_id: unknown): Promise<Row[]> =>
    readDown({ ...placeIn(searchParams), status: null, from_id, to_id, limit: exportedAtOnce });
  let coming = readBefore(from_id.replaceAll('0', 'f'));
  for (;;) {
    const rows = await coming;
    const isLast = rows.length < exportedAtOnce;
    if (!isLast) coming = readBefore(rows.at(-1)!['id']);
    yield rows.map((row) => `${Object.values(row).join(',')}\r\n`).join('');
    if (isLast) return;
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const server = createServer((request, response) => {
  const url = new URL(request.url!, 'http://bare');
  if (url.pathname === '/export') {
    Readable.from(exportLines(url), { objectMode: false }).pipe(response);
    return;
  }
  const answer = async (): Promise<string> =>
    answers[url.pathname.split('/', 2)[1]!]!(url, request.method === 'POST' ? await readBody(request) : '');
  answer().then(
    (json) =>
      response
        .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) })
        .end(json),
    (error: Error) => response.writeHead(500).end(error.message),
  );
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
