import type { Peer, Place } from './peer.ts';
import { fillTable, scarceWord, someAnswers, somePlaces } from './rows.ts';

const token = 'a-full-access-token-of-the-benchmark';
const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
const secret = 'a secret of the benchmark, 32 long';

/** As Strapi's content-type builder creates a type whose entries are published immediately. */
const contentType = {
  kind: 'collectionType',
  collectionName: 'entries',
  info: { singularName: 'entry', pluralName: 'entries', displayName: 'Entry' },
  options: { draftAndPublish: false },
  attributes: {
    subject: { type: 'string', required: true },
    email: { type: 'email', required: true },
    phone: { type: 'string' },
    topic: { type: 'string' },
    people: { type: 'integer' },
    day: { type: 'date' },
    newsletter: { type: 'boolean' },
    message: { type: 'text', required: true },
  },
};

/** The defaults of a new project, without the request log. */
const middlewares = [
  'strapi::errors',
  'strapi::security',
  'strapi::cors',
  'strapi::query',
  'strapi::body',
  'strapi::session',
  'strapi::favicon',
  'strapi::public',
];

/** Creates an API token with a known value at startup. */
const lifecycle = `module.exports = {
  async bootstrap({ strapi }) {
    const tokens = strapi.service('admin::api-token');
    const { id } = await tokens.create({ name: 'bench', description: '', type: 'full-access', lifespan: null });
    await strapi.db.query('admin::api-token').update({ where: { id }, data: { accessKey: tokens.hash('${token}') } });
  },
};
`;

/**
 * Writes the project that Strapi's documentation creates by hand: settings, one content type and the files
 * that serve it.
 */
async function writeProject(place: Place): Promise<void> {
  const settings = {
    database: { connection: { client: 'postgres', connection: { connectionString: place.databaseUrl } } },
    server: { host: '127.0.0.1', port: place.port, app: { keys: [secret] } },
    admin: {
      serveAdminPanel: false,
      auth: { secret },
      apiToken: { salt: secret },
      transfer: { token: { salt: secret } },
    },
    middlewares,
    plugins: { 'users-permissions': { enabled: false } },
    logger: { level: 'error' },
  };
  for (const [name, value] of Object.entries(settings))
    await place.write(`config/${name}.json`, JSON.stringify(value));
  await place.write('src/api/entry/content-types/entry/schema.json', JSON.stringify(contentType));
  const factories = {
    controllers: 'createCoreController',
    routes: 'createCoreRouter',
    services: 'createCoreService',
  };
  for (const [folder, factory] of Object.entries(factories))
    await place.write(
      `src/api/entry/${folder}/entry.js`,
      `module.exports = require('@strapi/strapi').factories.${factory}('api::entry.entry');\n`,
    );
  await place.write('src/index.js', lifecycle);
  await place.write('public/uploads/.keep', '');
  await place.write(
    'server.js',
    `require('@strapi/strapi').createStrapi({ appDir: __dirname, distDir: __dirname }).start();\n`,
  );
}

export const strapi: Peer = {
  name: 'strapi',
  version: '5.54.0',
  packages: {
    dependencies: {
      '@strapi/strapi': '5.54.0',
      pg: '8.23.1',
      react: '18.3.1',
      'react-dom': '18.3.1',
      'react-router-dom': '6.30.3',
      'styled-components': '6.1.19',
    },
  },
  notes:
    'admin panel, users-permissions, request log and telemetry off, no draft and publish; full-access API token. The search (`?_q=`) finds parts of words in any text column, newest first, with a total.',
  async open(place) {
    await writeProject(place);
    const environment = { STRAPI_TELEMETRY_DISABLED: 'true', STRAPI_DISABLE_UPDATE_NOTIFICATION: 'true' };
    const { pid } = await place.start('server.js', environment, '/_health');
    await fillTable(place.databaseUrl, place.rows, {
      table: 'entries',
      columns: {
        document_id: `replace(id::text, '-', '')`,
        created_at: `at at time zone 'UTC'`,
        updated_at: `at at time zone 'UTC'`,
        published_at: `at at time zone 'UTC'`,
      },
      newestFirst: 'created_at',
    });
    const newest = 'sort=createdAt:desc&pagination[pageSize]=20';
    return {
      pid,
      requests: {
        list: [{ method: 'GET', path: `/api/entries?${newest}`, headers }],
        get: somePlaces(place.rows).map((each) => ({
          method: 'GET',
          path: `/api/entries/${place.rows.at(each).id.replaceAll('-', '')}`,
          headers,
        })),
        search: [{ method: 'GET', path: `/api/entries?_q=${scarceWord}&${newest}`, headers }],
        insert: someAnswers(place.rows).map((answers) => ({
          method: 'POST',
          path: '/api/entries',
          headers,
          body: JSON.stringify({ data: answers }),
        })),
      },
    };
  },
};
