import { previewImport, startImport } from '#invitations/import/start-import.ts';
import { readInvitationBody } from '#invitations/request.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { ImportBody, InvitationsPath, PreviewBody } from './shapes.ts';

/** A list of ten thousand people with a few columns, as JSON writes it. */
const importBytes = 8 * 1024 * 1024;

/** How many lines, and problems, a person is shown. */
const shown = { people: 5, problems: 100 } as const;

/** Inviting from pasted addresses or a file: look first, then do. */
export const importConsoleRoutes = (services: ConsoleServices, base: string): readonly ConsoleRoute[] => [
  ['POST', `${base}/imports/preview`, previewEndpoint(services)],
  ['POST', `${base}/imports`, startEndpoint(services)],
];

const previewEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    bodyLimit: importBytes,
    params: InvitationsPath,
    body: PreviewBody,
    async run({ workspaceId, params, body }) {
      const form = { workspaceId, formId: params.form };
      const { columns, mapping, drafts, problems, unsubscribed } = await previewImport(
        services,
        form,
        body.source,
      );
      const people = drafts.slice(0, shown.people).map(({ line, draft }) => ({ line, ...draft }));
      return {
        status: 200,
        body: {
          columns,
          mapping,
          total: drafts.length,
          unsubscribed,
          people,
          problem_count: problems.length,
          problems: problems.slice(0, shown.problems),
        },
      };
    },
  });

const startEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    bodyLimit: importBytes,
    params: InvitationsPath,
    body: ImportBody,
    async run({ workspaceId, params, user, body: { source, ...message } }) {
      const form = { workspaceId, formId: params.form };
      const invitation = readInvitationBody(message, user.id);
      const { batchId, total } = await startImport(services, form, source, invitation);
      return { status: 202, body: { batch_id: batchId, total } };
    },
  });
