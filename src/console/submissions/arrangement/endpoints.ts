import { consoleEndpoint } from '../../endpoint.ts';
import type { ConsoleServices } from '../../services.ts';
import { readViewedForm } from '#submissions/columns/read-columns.ts';
import { findTableSettings, saveTableSettings } from '../queries.ts';
import { FormPath, TableSettings } from '../shapes.ts';

/** How the person has arranged the form's table; null while they have not. */
export const readSettingsEndpoint = ({ database }: ConsoleServices) =>
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

/** Keeps it for the person, in every browser. It is their own matter, whatever their role. */
export const saveSettingsEndpoint = ({ database }: ConsoleServices) =>
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
