import type { OpenPeer, Peer, Place } from './peer.ts';
import { fillTable, scarceWord, someAnswers, somePlaces } from './rows.ts';

const json = { 'Content-Type': 'application/json' };
const account = { email: 'bench@example.org', password: 'Measure.twice1' };

/** NocoDB adds Id, CreatedAt and UpdatedAt itself. */
const columnTypes: Readonly<Record<string, string>> = {
  subject: 'SingleLineText',
  email: 'Email',
  phone: 'PhoneNumber',
  topic: 'SingleLineText',
  people: 'Number',
  day: 'Date',
  newsletter: 'Checkbox',
  message: 'LongText',
};

const server = `// It loads SQLite when it starts, which a script of that package would have to build; on PostgreSQL it never asks it.
require.cache[require.resolve('sqlite3')] = { exports: {} };
const app = require('express')();
const { Noco } = require('nocodb');
const server = app.listen(Number(process.env.PORT), '127.0.0.1', async () => {
  app.use(await Noco.init({}, server, app));
});
`;

async function start(place: Place): Promise<{ pid: number }> {
  const url = new URL(place.databaseUrl);
  const connection = {
    host: url.searchParams.get('host'),
    user: url.username,
    database: url.pathname.slice(1),
  };
  await place.write('server.js', server);
  const environment = {
    PORT: String(place.port),
    NC_DB_JSON: JSON.stringify({ client: 'pg', connection }),
    NC_PUBLIC_URL: `http://127.0.0.1:${place.port}`,
    NC_AUTH_JWT_SECRET: 'a secret of the benchmark',
    NC_ADMIN_EMAIL: account.email,
    NC_ADMIN_PASSWORD: account.password,
    NC_DISABLE_TELE: 'true',
    NC_DISABLE_ERR_REPORTS: 'true',
  };
  return place.start('server.js', environment, '/api/v1/health');
}

type Made = { tableId: string; schema: string; headers: Readonly<Record<string, string>> };

/** Creates a base with its own schema, one table and a token. */
async function makeTable(place: Place): Promise<Made> {
  const { token: session } = await place.call<{ token: string }>(
    'POST',
    '/api/v1/auth/user/signin',
    json,
    account,
  );
  const signedIn = { ...json, 'xc-auth': session };
  const { token } = await place.call<{ token: string }>('POST', '/api/v1/tokens', signedIn, {
    description: 'bench',
  });
  const base = await place.call<{ id: string }>('POST', '/api/v2/meta/bases', signedIn, { title: 'Bench' });
  const table = await place.call<{ id: string }>('POST', `/api/v2/meta/bases/${base.id}/tables`, signedIn, {
    table_name: 'entries',
    title: 'entries',
    columns: Object.entries(columnTypes).map(([name, uidt]) => ({ column_name: name, title: name, uidt })),
  });
  return { tableId: table.id, schema: base.id, headers: { ...json, 'xc-token': token } };
}

const like = (column: string): string => `(${column},like,%25${scarceWord}%25)`;

export const nocodb: Peer = {
  name: 'nocodb',
  version: '0.301.3',
  // The xlsx version that it depends on is not in the registry.
  packages: { dependencies: { nocodb: '0.301.3' }, overrides: { xlsx: '0.18.5' } },
  notes:
    'telemetry off; API token. It sorts with `nulls last`, so its index has that order. The search (`like`) finds parts of words in the named columns (subject and message), newest first, with a total.',
  async open(place): Promise<OpenPeer> {
    const { pid } = await start(place);
    const { tableId, schema, headers } = await makeTable(place);
    await fillTable(place.databaseUrl, place.rows, {
      table: `"${schema}".entries`,
      columns: { created_at: `at at time zone 'UTC'`, nc_order: 'place + 1' },
      newestFirst: 'created_at desc nulls last',
    });
    const records = `/api/v2/tables/${tableId}/records`;
    return {
      pid,
      requests: {
        list: [{ method: 'GET', path: `${records}?sort=-CreatedAt&limit=20`, headers }],
        get: somePlaces(place.rows).map((each) => ({
          method: 'GET',
          path: `${records}/${each + 1}`,
          headers,
        })),
        search: [
          {
            method: 'GET',
            path: `${records}?where=${like('subject')}~or${like('message')}&sort=-CreatedAt&limit=20`,
            headers,
          },
        ],
        insert: someAnswers(place.rows).map((answers) => ({
          method: 'POST',
          path: records,
          headers,
          body: JSON.stringify(answers),
        })),
      },
    };
  },
};
