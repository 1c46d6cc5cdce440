import { draftJoin, type FormStatus, publicUrlOf, shownName, submissionCount } from '#forms/form-rows.ts';
import { wired } from '#kit/http.ts';
import { idParameter, operation, type Person } from '#kit/operation.ts';
import { requireRow, statement, word } from '#kit/statement.ts';
import type { Role } from '#rules/permissions.ts';
import { findTableSettings, saveTableSettings } from '#search/list-rows.ts';
import { TableSettings } from '#submissions/shapes.ts';
import { type ConsoleServices, refuseOneStep } from '../serve.ts';
import { Arrangement, LocatedForm } from './shapes.ts';

/** A form by its id alone, for whoever is a member of its workspace; nothing for everybody else. */
const locateForm = statement(
  'locate_form',
  'id user_id',
  [
    'workspace_id id name submission_count published_at? second_factor_required',
    { status: word<FormStatus>(), role: word<Role>() },
  ],
  `/* lookup: across workspaces */
   select f.workspace_id, f.id, ${shownName} as name, f.status, ${submissionCount} as submission_count, f.published_at, m.role,
          w.second_factor_required
   from form_lookup l
   join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
   join workspaces w on w.id = f.workspace_id
   join members m on m.workspace_id = f.workspace_id and m.user_id = $user_id
   ${draftJoin}
   where l.form_id = $id and f.deleted_at is null`,
);

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
