import { idParameter, operation } from '#kit/operation.ts';
import { findResponsiblePerson } from '#workspaces/authenticate.ts';
import type { InvitingServices } from './context.ts';
import { ImportBody, ImportPreview, ImportPreviewBody, ImportStarted, readInvitationBody } from './shapes.ts';
import { createImportPreview, enqueueInvitationImport } from './start-import.ts';

/** Enough for a list of ten thousand people with a few columns as JSON. */
const importBytes = 8 * 1024 * 1024;

/** How many people and problems a preview shows. */
const shown = { people: 5, problems: 100 } as const;

const leftOut = (problems: readonly { line: number; message: string }[]) => ({
  problem_count: problems.length,
  problems: problems.slice(0, shown.problems),
});

const example = { body: { kind: 'addresses', text: 'Grace Hopper <grace@example.org>' } } as const;

/** Operations that invite people from pasted addresses or a file: first a preview, then the import. */
export const importEndpoints = (context: InvitingServices) => ({
  previewInvitationImport: operation({
    summary: 'Preview invitation import',
    description:
      'Returns how each column is used, the people to invite, and the problems by line. Changes nothing.',
    permission: 'invitations:read',
    audit: { none: 'It changes nothing.' },
    command: 'invitations preview-import',
    params: idParameter,
    body: ImportPreviewBody,
    bodyLimit: importBytes,
    example,
    reply: { status: 200, description: 'The preview.', schema: ImportPreview },
    async run({ workspaceId, params, body }) {
      const form = { workspaceId, formId: params.id };
      const plan = await createImportPreview(context, form, body);
      return {
        body: {
          columns: plan.columns,
          mapping: [...plan.mapping],
          total: plan.drafts.length,
          unsubscribed: plan.unsubscribed,
          people: plan.drafts.slice(0, shown.people).map(({ line, draft }) => ({ line, ...draft })),
          ...leftOut(plan.problems),
        },
      };
    },
  }),

  startInvitationImport: operation({
    summary: 'Import invitations',
    description:
      'Invites up to 10,000 people from email addresses or CSV text, as a task. The invitation overview shows the progress. Lines with problems are omitted.',
    permission: 'invitations:write',
    audit: 'entry',
    command: 'invitations import',
    params: idParameter,
    body: ImportBody,
    bodyLimit: importBytes,
    example,
    reply: { status: 202, description: 'The import has started.', schema: ImportStarted },
    async run({ workspaceId, params, actor, body: { kind, text, mapping, ...message } }) {
      const form = { workspaceId, formId: params.id };
      const invitation = readInvitationBody(
        message,
        (await findResponsiblePerson(context.database, { workspaceId, actor }))?.id ?? null,
      );
      const source = { kind, text, mapping };
      const { batchId, total, problems } = await enqueueInvitationImport(
        context,
        form,
        source,
        invitation,
        actor,
      );
      return { body: { batch_id: batchId, total, ...leftOut(problems) } };
    },
  }),
});
