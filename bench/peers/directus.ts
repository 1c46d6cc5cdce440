import type { Peer } from './peer.ts';
import { fillTable, scarceWord, someAnswers, somePlaces } from './rows.ts';

const token = 'a-static-token-of-the-benchmark';
const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };

const field = (name: string, type: string, meta: object = {}, schema: object = {}): object => ({
  field: name,
  type,
  meta,
  schema,
});

/** As Directus's data studio creates a collection with an id and a creation time. */
const collection = {
  collection: 'entries',
  meta: {},
  schema: {},
  fields: [
    field('id', 'uuid', { special: ['uuid'] }, { is_primary_key: true, has_auto_increment: false }),
    field('created_at', 'timestamp', { special: ['date-created'] }),
    field('subject', 'string', {}, { is_nullable: false }),
    field('email', 'string', {}, { is_nullable: false }),
    field('phone', 'string'),
    field('topic', 'string'),
    field('people', 'integer'),
    field('day', 'date'),
    field('newsletter', 'boolean'),
    field('message', 'text', {}, { is_nullable: false }),
  ],
};

const api = 'node_modules/@directus/api/dist';

export const directus: Peer = {
  name: 'directus',
  version: '12.4.0',
  // The isolated-vm version that it depends on (5.0.3) has no build for Node 24; only scripts of its flows
  // use it.
  packages: { dependencies: { directus: '12.4.0' }, overrides: { 'isolated-vm': '7.0.1' } },
  notes:
    'rate and pressure limits, cache, telemetry, app and MCP off; static token. An insert also writes an activity and a revision. The search (`?search=`) finds parts of words in any column, unordered, and stops at 20 rows without a total.',
  async open(place) {
    const url = `http://127.0.0.1:${place.port}`;
    const environment = {
      HOST: '127.0.0.1',
      PORT: String(place.port),
      PUBLIC_URL: url,
      DB_CLIENT: 'pg',
      DB_CONNECTION_STRING: place.databaseUrl,
      SECRET: 'a secret of the benchmark, as long as it wants',
      ADMIN_EMAIL: 'bench@example.org',
      ADMIN_PASSWORD: 'measure twice, cut once',
      ADMIN_TOKEN: token,
      CACHE_ENABLED: 'false',
      RATE_LIMITER_ENABLED: 'false',
      PRESSURE_LIMITER_ENABLED: 'false',
      TELEMETRY: 'false',
      MCP_ENABLED: 'false',
      SERVE_APP: 'false',
      LOG_LEVEL: 'error',
    };
    await place.run(`${api}/cli/run.js bootstrap`, environment);
    const { pid } = await place.start(`${api}/start.js`, environment, '/server/ping');
    await place.call('POST', '/collections', headers, collection);
    await fillTable(place.databaseUrl, place.rows, {
      table: 'entries',
      columns: { id: 'id', created_at: 'at' },
      newestFirst: 'created_at',
    });
    return {
      pid,
      requests: {
        list: [
          { method: 'GET', path: '/items/entries?sort=-created_at&limit=20&meta=filter_count', headers },
        ],
        get: somePlaces(place.rows).map((each) => ({
          method: 'GET',
          path: `/items/entries/${place.rows.at(each).id}`,
          headers,
        })),
        search: [{ method: 'GET', path: `/items/entries?search=${scarceWord}&limit=20`, headers }],
        insert: someAnswers(place.rows).map((answers) => ({
          method: 'POST',
          path: '/items/entries',
          headers,
          body: JSON.stringify(answers),
        })),
      },
    };
  },
};
