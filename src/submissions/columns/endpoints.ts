import { Type } from 'typebox';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { languageParameter, TableColumns } from '../shapes.ts';
import { readColumns, readViewedForm } from './read-columns.ts';

/** The columns of a form's submissions. */
export const columnEndpoints = ({ database }: { database: Database }) => ({
  getFormColumns: operation({
    summary: 'List columns of a form',
    description:
      'Its questions over all versions that were answered: the live ones in their order, each that is no longer asked behind the one that it followed.',
    permission: 'submissions:read',
    params: idParameter,
    query: Type.Object({ language: languageParameter }, { additionalProperties: false }),
    reply: { status: 200, description: 'The columns.', schema: TableColumns },
    async run({ workspaceId, formIds, params, query }) {
      requireReach(formIds, params.id);
      const form = { workspaceId, formId: params.id };
      await readViewedForm(database, form);
      return { body: { data: await readColumns(database, form, query.language) } };
    },
  }),
});
