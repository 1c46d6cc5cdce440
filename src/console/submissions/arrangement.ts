import { readViewedForm } from '#submissions/columns/read-columns.ts';
import { TableSettings } from '#submissions/shapes.ts';
import { findTableSettings, saveTableSettings } from '#submissions/table/queries.ts';
import { consoleEndpoint, type ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { Type } from 'typebox';

const FormPath = Type.Object({ form: Type.String({ format: 'uuid' }) });

/** How a person has arranged the table of a form: their own matter, which no key has and nobody else sees. */
export const arrangementRoutes = (services: ConsoleServices): readonly ConsoleRoute[] => [
  ['GET', '/workspaces/:workspace/forms/:form/arrangement', readEndpoint(services)],
  ['PUT', '/workspaces/:workspace/forms/:form/arrangement', saveEndpoint(services)],
];

/** Null while they have not. */
const readEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: FormPath,
    async run({ workspaceId, user, params }) {
      await readViewedForm(database, { workspaceId, formId: params.form });
      const key = { workspace_id: workspaceId, form_id: params.form, user_id: user.id };
      const [found] = await findTableSettings(database, key);
      return { status: 200, body: { settings: found?.settings ?? null } };
    },
  });

/** Keeps it for the person, in every browser, whatever their role. */
const saveEndpoint = ({ database }: ConsoleServices) =>
  consoleEndpoint({
    role: 'viewer',
    params: FormPath,
    body: TableSettings,
    async run({ workspaceId, user, params, body }) {
      await readViewedForm(database, { workspaceId, formId: params.form });
      await saveTableSettings(database, {
        workspace_id: workspaceId,
        form_id: params.form,
        user_id: user.id,
        settings: body,
      });
      return { status: 204 };
    },
  });
