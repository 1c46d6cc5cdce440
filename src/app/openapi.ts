import { structureSchemas } from '#ast/schema.ts';
import { settingsSchemas } from '#ast/settings-schema.ts';
import { permissions } from '#rules/permissions.ts';
import { type Resource, writeOperation } from './openapi/operations.ts';
import { pageOperations } from './openapi/page.ts';
import { ErrorSchema, headers, responses } from './openapi/responses.ts';
import { openSchemas } from './openapi/schemas.ts';
import type { OpenApi } from './openapi/types.ts';
import { writeWebhooks } from './openapi/webhooks.ts';
import type { ApiRoute } from './operations.ts';

/** What the operations are about, in the order in which one meets it. */
const resources: Readonly<Record<Resource, string>> = {
  forms: 'Templates of what is asked: a tree of steps and elements, with settings.',
  submissions: 'What people answered.',
  files: 'Uploads, and the links under which they are downloaded.',
  invitations: 'People who are asked to fill in a form, each by a link of their own.',
  events: 'What happened to submissions, to be pulled: the bodies of webhooks, in their order.',
  webhooks: 'Receivers that hear of submissions, and the log of what was delivered to them.',
  members: 'The people of the workspace and their roles.',
  keys: 'API keys.',
  workspace: 'The workspace itself.',
  mail: 'What was mailed.',
  audit: 'Who did what.',
  people: 'Everything that is kept of one person, to be found, given out and erased.',
};

/** Writes the document from the very schemas that check requests, so that it cannot say anything else. */
export function writeOpenApi(
  routes: readonly ApiRoute[],
  options: { publicUrl: string; version: string },
): OpenApi {
  const schemas = openSchemas({ ...structureSchemas(), ...settingsSchemas() });
  schemas.write(ErrorSchema);
  const tagged = new Set(routes.filter(({ operation }) => operation.isConditional).map(({ path }) => path));
  const paths: OpenApi['paths'] = {};
  for (const route of routes) {
    const template = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[template] ??= {})[route.method.toLowerCase()] = writeOperation(route, schemas, (path) =>
      tagged.has(path),
    );
  }
  Object.assign(paths, pageOperations(schemas));
  const webhooks = writeWebhooks(schemas);
  const used = new Set(
    Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags)),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Formloom API',
      version: options.version,
      description:
        'Forms, their submissions, and search over them. Every request acts within the workspace of its API key.',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Whoever runs this service', url: options.publicUrl },
    },
    externalDocs: {
      url: `${options.publicUrl}/api/v1/docs/`,
      description: 'Guides and reference, for people',
    },
    servers: [{ url: `${options.publicUrl}/api/v1`, description: 'This service' }],
    tags: Object.entries(resources)
      .filter(([name]) => used.has(name))
      .map(([name, description]) => ({ name, description })),
    security: [{ apiKey: [] }],
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `A key of the workspace. What it may do: ${Object.keys(permissions).join(', ')}.`,
        },
      },
      schemas: schemas.components(),
      responses: usedOf(responses, JSON.stringify(paths)),
      headers,
    },
  };
}

/** The shared answers that some operation has. */
const usedOf = <T>(shared: Readonly<Record<string, T>>, text: string): Record<string, T> =>
  Object.fromEntries(
    Object.entries(shared).filter(([name]) => text.includes(`"#/components/responses/${name}"`)),
  );
