import { type Static, Type } from 'typebox';
import {
  draftJoin,
  type FormStatus,
  formNameSql,
  publicAddressColumns,
  publicAddressSql,
  publicUrlOf,
  submissionCountSql,
} from '#forms/form-rows.ts';
import { formStatuses } from '#forms/live-form.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation, type Person } from '#kit/operation.ts';
import { requireRow, statement, textEnum } from '#kit/statement.ts';
import { orNull, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { type Role, roleNames } from '#rules/permissions.ts';
import { TableSettings } from '#submissions/shapes.ts';
import { requireTwoFactor, type SessionServices } from '#workspaces/sign-in/require-person.ts';
import { findTableSettings, saveTableSettings } from './list-rows.ts';

const id = uuidSchema;
const timestamp = timestampSchema;
const nullableTimestamp = orNull(timestamp);
const status = Type.Enum([...formStatuses]);

/** A form with its workspace, and the data that all screens of the form show. */
export const LocatedForm = Type.Object({
  workspace_id: id,
  id,
  name: Type.String(),
  status,
  submission_count: Type.Integer(),
  public_url: Type.String(),
  published_at: nullableTimestamp,
  /** The caller's role in the workspace of the form. */
  role: Type.Enum([...roleNames]),
});
export type LocatedForm = Static<typeof LocatedForm>;

const Arrangement = Type.Object({ settings: orNull(TableSettings) });

/** Finds a form by its id alone, if the person is a member of its workspace. */
const locateForm = statement('id user_id', [
  'workspace_id id name submission_count published_at? second_factor_required',
  publicAddressColumns,
  { status: textEnum<FormStatus>(), role: textEnum<Role>() },
])`
  /* lookup: across workspaces */
  select f.workspace_id, f.id, ${formNameSql} as name, f.status, ${submissionCountSql} as submission_count, f.published_at, m.role,
         w.second_factor_required, ${publicAddressSql}
  from form_lookup l
  join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id
  join workspaces w on w.id = f.workspace_id
  join members m on m.workspace_id = f.workspace_id and m.user_id = $user_id
  ${draftJoin}
  where l.form_id = $id and f.deleted_at is null`;

/** Operations of a session on one form: its location, and how the person arranged its table. */
export function tableArrangementEndpoints({
  database,
  config,
}: Pick<SessionServices, 'database' | 'config'>) {
  const locate = async (id: string, person: Person) => {
    const located = requireRow(await locateForm(database, { id, user_id: person.id }));
    requireTwoFactor(located, person);
    return located;
  };
  const keyOf = async (id: string, person: Person) => {
    const { workspace_id } = await locate(id, person);
    return { workspace_id, form_id: id, user_id: person.id };
  };

  return {
    locateForm: operation({
      summary: 'Find the workspace of a form',
      description: 'Use the returned workspace in requests to the API.',
      caller: 'person',
      params: idParameter,
      reply: { status: 200, description: 'The form and its workspace.', schema: LocatedForm },
      async run({ person, params }) {
        const { second_factor_required: _, domain, slug, ...found } = await locate(params.id, person);
        const public_url = publicUrlOf(config, { id: found.id, domain, slug });
        return { body: asWireValue({ ...found, public_url }) };
      },
    }),

    getArrangement: operation({
      summary: 'Get the table arrangement of a form',
      caller: 'person',
      params: idParameter,
      reply: { status: 200, description: 'Your arrangement, or null if you have none.', schema: Arrangement },
      async run({ person, params }) {
        const [found] = await findTableSettings(database, await keyOf(params.id, person));
        return { body: { settings: found?.settings ?? null } };
      },
    }),

    saveArrangement: operation({
      summary: 'Save the table arrangement of a form',
      description: 'Saves your own arrangement, which applies in every browser. Any role can do this.',
      caller: 'person',
      audit: { none: 'The arrangement of a table is personal.' },
      params: idParameter,
      body: TableSettings,
      reply: { status: 204, description: 'The arrangement is saved.' },
      async run({ person, params, body }) {
        await saveTableSettings(database, { ...(await keyOf(params.id, person)), settings: body });
      },
    }),
  };
}
