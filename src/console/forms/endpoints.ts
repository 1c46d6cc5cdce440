import { publicUrlOf } from '#forms/present.ts';
import { idParameter, operation, type Person } from '#kit/operation.ts';
import { requireRow } from '#kit/statement.ts';
import { wired } from '#kit/wire.ts';
import { TableSettings } from '#submissions/shapes.ts';
import { findTableSettings, saveTableSettings } from '#submissions/table/queries.ts';
import { refuseOneStep } from '../access.ts';
import type { ConsoleServices } from '../services.ts';
import { locateForm } from './queries.ts';
import { Arrangement, LocatedForm } from './shapes.ts';

/** What is a person's own matter at a form that they have the address of: where it is, and how its table looks to them. */
export function ownFormEndpoints({ database, config }: Pick<ConsoleServices, 'database' | 'config'>) {
  const locate = async (id: string, person: Person) => {
    const located = requireRow(await locateForm(database, { id, user_id: person.id }));
    refuseOneStep(located, person);
    const { second_factor_required: _, ...found } = located;
    return found;
  };
  const keyOf = async (id: string, person: Person) => {
    const { workspace_id } = await locate(id, person);
    return { workspace_id, form_id: id, user_id: person.id };
  };

  return {
    locateForm: operation({
      summary: 'Find the workspace of a form',
      description: 'Whoever knows it asks the API.',
      caller: 'person',
      params: idParameter,
      reply: { status: 200, description: 'Where it is.', schema: LocatedForm },
      async run({ person, params }) {
        const found = await locate(params.id, person);
        return { body: wired({ ...found, public_url: publicUrlOf(config, found.id) }) };
      },
    }),

    getArrangement: operation({
      summary: 'Read how one has arranged the table of a form',
      caller: 'person',
      params: idParameter,
      reply: { status: 200, description: 'Null while one has not.', schema: Arrangement },
      async run({ person, params }) {
        const [found] = await findTableSettings(database, await keyOf(params.id, person));
        return { body: { settings: found?.settings ?? null } };
      },
    }),

    saveArrangement: operation({
      summary: 'Arrange the table of a form',
      description: 'For oneself, in every browser, whatever one may do in the workspace.',
      caller: 'person',
      params: idParameter,
      body: TableSettings,
      reply: { status: 204, description: 'It is kept.' },
      async run({ person, params, body }) {
        await saveTableSettings(database, { ...(await keyOf(params.id, person)), settings: body });
      },
    }),
  };
}
