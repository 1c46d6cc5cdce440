import { Type } from 'typebox';
import { readBuilderForm } from '#forms/drafts/draft.ts';
import { duplicateForm } from '#forms/drafts/duplicate.ts';
import { createForm, deleteForm } from '#forms/forms.ts';
import { publicUrlOf } from '#forms/present.ts';
import { changeStatus } from '#forms/status.ts';
import { ApiError } from '#kit/errors.ts';
import { paginate, readPage } from '#kit/pagination.ts';
import { only } from '#kit/statement.ts';
import { consoleEndpoint, type ConsoleRoute, personEndpoint } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { countFormLines, listFormLines, locateForm } from './queries.ts';
import { type ExportedForm, FormsQuery, NewForm } from './shapes.ts';

const form = Type.Object({ form: Type.String({ format: 'uuid' }) });

/** The list of forms, and what is done to a form as a whole. */
export function formsListRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  const { database, config, wakeQueue } = services;

  const list = consoleEndpoint({
    role: 'viewer',
    query: FormsQuery,
    async run({ workspaceId, query }) {
      const page = readPage(query);
      const filter = { workspace_id: workspaceId, status: query.status ?? null, q: query.q?.trim() || null };
      const [data, [counted]] = await Promise.all([
        listFormLines(database, {
          ...filter,
          sort: query.sort ?? 'activity',
          limit: page.perPage,
          offset: page.offset,
        }),
        countFormLines(database, filter),
      ]);
      return { status: 200, body: { data, pagination: paginate(page, counted!.total) } };
    },
  });

  const locate = personEndpoint({
    params: form,
    async run({ user, params }) {
      const found = only(await locateForm(database, { id: params.form, user_id: user.id }));
      if (!found) throw new ApiError('not_found');
      return { status: 200, body: { ...found, public_url: publicUrlOf(config, found.id) } };
    },
  });

  const create = consoleEndpoint({
    role: 'editor',
    body: NewForm,
    async run({ workspaceId, body }) {
      const { id } = await createForm(database, workspaceId, body);
      return { status: 201, body: { id } };
    },
  });

  const duplicate = consoleEndpoint({
    role: 'editor',
    params: form,
    run: async ({ workspaceId, user, params }) => ({
      status: 201,
      body: await duplicateForm(database, { workspaceId, formId: params.form, userId: user.id }),
    }),
  });

  const become = (status: 'archived' | 'draft') =>
    consoleEndpoint({
      role: 'editor',
      params: form,
      async run({ workspaceId, params }) {
        await changeStatus(database, workspaceId, params.form, status);
        return { status: 204 };
      },
    });

  const remove = consoleEndpoint({
    role: 'editor',
    params: form,
    async run({ workspaceId, params }) {
      await deleteForm(database, workspaceId, params.form);
      wakeQueue();
      return { status: 204 };
    },
  });

  const download = consoleEndpoint({
    role: 'viewer',
    params: form,
    async run({ workspaceId, params }) {
      const { form: live, draft } = await readBuilderForm(database, workspaceId, params.form);
      // What visitors see; of a form that they do not see, or never saw, what is being made.
      const isOwn = live.status === 'draft' || live.published_at === null;
      const { structure, settings } = isOwn ? draft : live;
      const exported: ExportedForm = { structure, settings };
      return { status: 200, body: exported };
    },
  });

  return [
    ['GET', '/forms/:form/locate', locate],
    ['GET', '/workspaces/:workspace/forms', list],
    ['POST', '/workspaces/:workspace/forms', create],
    ['POST', '/workspaces/:workspace/forms/:form/duplicate', duplicate],
    ['POST', '/workspaces/:workspace/forms/:form/archive', become('archived')],
    ['POST', '/workspaces/:workspace/forms/:form/restore', become('draft')],
    ['GET', '/workspaces/:workspace/forms/:form/export', download],
    ['DELETE', '/workspaces/:workspace/forms/:form', remove],
  ];
}
