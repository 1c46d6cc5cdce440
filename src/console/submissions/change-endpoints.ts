import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { changeStatus, editAnswers, editReference } from '#submissions/changes/edit.ts';
import { findRemoval, findUnfinishedRemovals } from '#submissions/changes/queries.ts';
import { startRemoval } from '#submissions/changes/remove-many.ts';
import { trashSubmission } from '#submissions/trash/trash.ts';
import { consoleEndpoint, type ConsoleRoute, type ConsoleUser } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { readViewedForm } from '#submissions/columns/read-columns.ts';
import {
  AnswersEdit,
  type AnswersEdited,
  FormPath,
  ReferenceEdit,
  RemovalPath,
  RemovalRequest,
  StatusEdit,
  SubmissionPath,
  type ViewQuery,
} from './shapes.ts';
import { readView, readViewIds } from './view.ts';

/** What changes submissions, and how far removals have come. Every edit fires its event (docs/rules.md 4). */
export function changeRoutes(services: ConsoleServices, submissions: string): readonly ConsoleRoute[] {
  return [
    ['PUT', `${submissions}/:submission/answers`, answersEndpoint(services)],
    ['PUT', `${submissions}/:submission/reference`, referenceEndpoint(services)],
    ['PUT', `${submissions}/:submission/status`, statusEndpoint(services)],
    ['DELETE', `${submissions}/:submission`, removeEndpoint(services)],
    ['POST', `${submissions}/removals`, startRemovalEndpoint(services)],
    ['GET', `${submissions}/removals`, removalsEndpoint(services)],
    ['GET', `${submissions}/removals/:removal`, removalEndpoint(services)],
  ];
}

type Addressed = { workspaceId: string; params: { form: string; submission: string } };

const keyOf = ({ workspaceId, params }: Addressed) => ({
  workspaceId,
  formId: params.form,
  id: params.submission,
});

const targetOf = (request: Addressed & { user: ConsoleUser; body: { seen: string } }) => ({
  ...keyOf(request),
  seen: new Date(request.body.seen),
  userId: request.user.id,
});

const answersEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: SubmissionPath,
    body: AnswersEdit,
    async run(request) {
      const kept = await editAnswers(services, targetOf(request), request.body.answers);
      return { status: 200, body: kept satisfies AnswersEdited };
    },
  });

const referenceEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: SubmissionPath,
    body: ReferenceEdit,
    async run(request) {
      await editReference(services, targetOf(request), request.body.reference);
      return { status: 204 };
    },
  });

const statusEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: SubmissionPath,
    body: StatusEdit,
    async run(request) {
      await changeStatus(services, targetOf(request), request.body.status);
      return { status: 204 };
    },
  });

/** Into the trash, from which it can come back for 30 days (trash/endpoints.ts). */
const removeEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: SubmissionPath,
    async run(request) {
      await trashSubmission(database, { ...keyOf(request), userId: request.user.id });
      return { status: 204 };
    },
  });

/** Lays a selection, or all of a view, into the trash. The number that the person typed must be the number that would go. */
const startRemovalEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: FormPath,
    body: RemovalRequest,
    async run({ workspaceId, user, params, body: { ids, view, expected } }) {
      const key = { workspaceId, formId: params.form };
      const listed = await listIds(services.database, key, { ids, view });
      if (listed.length !== expected) {
        throw new ApiError(
          'conflict',
          `You confirmed ${expected}, but now there are ${listed.length}. Nothing was deleted.`,
        );
      }
      const removal = await startRemoval(services, key, { userId: user.id, ids: listed, toTrash: true });
      return { status: 202, body: removal };
    },
  });

type Selection = { ids: string[] | undefined; view: ViewQuery | undefined };

async function listIds(
  database: Database,
  key: { workspaceId: string; formId: string },
  { ids, view }: Selection,
): Promise<string[]> {
  if (ids && !view) return [...new Set(ids)];
  if (view && !ids) return readViewIds(database, await readView(database, key, view));
  throw new ApiError('validation_error', 'Send either "ids" or "view".');
}

const removalsEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: FormPath,
    async run({ workspaceId, params }) {
      await readViewedForm(database, { workspaceId, formId: params.form });
      const data = await findUnfinishedRemovals(database, {
        workspace_id: workspaceId,
        form_id: params.form,
      });
      return { status: 200, body: { data } };
    },
  });

const removalEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: RemovalPath,
    async run({ workspaceId, params }) {
      const [found] = await findRemoval(database, {
        workspace_id: workspaceId,
        form_id: params.form,
        id: params.removal,
      });
      if (!found) throw new ApiError('not_found');
      return { status: 200, body: found };
    },
  });
