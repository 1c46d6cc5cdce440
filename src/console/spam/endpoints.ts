import { requireForm } from '#forms/require-form.ts';
import { allowOrigin } from '#forms/settings.ts';
import { ApiError } from '#kit/errors.ts';
import { paginate, readPage } from '#kit/pagination.ts';
import { deleteHeld, findHeld, listHeld, listHeldOfSite, listHeldSites } from '#submissions/held/queries.ts';
import { releaseHeld } from '#submissions/held/release.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { HeldPath, type HeldRow, SiteRequest, SpamPath, SpamQuery, SpamSelection } from './shapes.ts';

/** A form's spam box (src/submissions/held/). Viewers may look, editors decide. */
export function spamConsoleRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  const spam = '/workspaces/:workspace/forms/:form/spam';
  return [
    ['GET', spam, listEndpoint(services)],
    ['GET', `${spam}/:held`, detailEndpoint(services)],
    ['POST', `${spam}/releases`, releaseEndpoint(services)],
    ['POST', `${spam}/removals`, removeEndpoint(services)],
    ['POST', `${spam}/sites`, allowSiteEndpoint(services)],
  ];
}

const listEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: SpamPath,
    query: SpamQuery,
    async run({ workspaceId, params, query }) {
      const page = readPage(query);
      const rows = await listHeld(database, {
        workspace_id: workspaceId,
        form_id: params.form,
        limit: page.perPage,
        offset: page.offset,
      });
      if (rows.length === 0) throw new ApiError('not_found');
      const data = rows
        .filter((row) => row.id !== null)
        .map(({ id, reason, answers, created_at }) => ({ id, reason, answers, created_at }));
      const sites = await listHeldSites(database, { workspace_id: workspaceId, form_id: params.form });
      const body = { data, pagination: paginate(page, rows[0]!.total), sites };
      return { status: 200, body: body satisfies { data: Record<keyof HeldRow, unknown>[] } };
    },
  });

const detailEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: HeldPath,
    async run({ workspaceId, params }) {
      const [held] = await findHeld(database, {
        workspace_id: workspaceId,
        form_id: params.form,
        id: params.held,
      });
      if (!held) throw new ApiError('not_found');
      return { status: 200, body: held };
    },
  });

/** Not spam. A conflict, when the form has its maximum, leaves the rest where it is. */
const releaseEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: SpamPath,
    body: SpamSelection,
    async run({ workspaceId, params, body }) {
      const form = { workspaceId, formId: params.form };
      await requireForm(services.database, form);
      const count = await releaseHeld(services, form, body.ids);
      return { status: 200, body: { count } };
    },
  });

/** The form's settings name the site from now on, and what was held because they did not is released. */
const allowSiteEndpoint = (services: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: SpamPath,
    body: SiteRequest,
    async run({ workspaceId, user, params, body: { origin } }) {
      await allowOrigin(services.database, workspaceId, params.form, { origin, userId: user.id });
      const key = { workspace_id: workspaceId, form_id: params.form };
      const held = await listHeldOfSite(services.database, { ...key, origin });
      const ids = held.map(({ id }) => id);
      const count = await releaseHeld(services, { workspaceId, formId: params.form }, ids);
      return { status: 200, body: { count } };
    },
  });

const removeEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'editor',
    params: SpamPath,
    body: SpamSelection,
    async run({ workspaceId, params, body }) {
      await requireForm(database, { workspaceId, formId: params.form });
      const key = { workspace_id: workspaceId, form_id: params.form };
      const removed = await deleteHeld(database, { ...key, ids: body.ids });
      return { status: 200, body: { count: removed.length } };
    },
  });
