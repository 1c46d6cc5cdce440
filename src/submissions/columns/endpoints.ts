import { Type } from 'typebox';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { languageParameter, TableColumns } from '../shapes.ts';
import { readColumns, readViewedForm } from './read-columns.ts';

export const columnEndpoints = ({ database }: { database: Database }) => ({
  getFormColumns: operation({
    summary: 'List columns of a form',
    description:
      'Returns the questions of all answered versions in the order of the live version. Each retired question keeps its position.',
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
