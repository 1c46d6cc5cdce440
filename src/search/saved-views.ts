import { type Static, Type } from 'typebox';
import { isCleanText, trimText } from '#ast/basics/text.ts';
import { lockForm, requireReachableForm } from '#forms/form-rows.ts';
import { newId, now } from '#kit/clock.ts';
import { type IfMatchTimes, requireUnchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { asWireValue } from '#kit/http.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { namedObject } from '#kit/pagination.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import {
  columns as columnsOf,
  jsonb,
  nullable,
  type Queryable,
  requireRow,
  statement,
} from '#kit/statement.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { TableSettings } from '#submissions/shapes.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import { readTableView, ViewQuery } from './view.ts';

/** A named view of a form's submissions, shared in the workspace. */
export const SavedView = namedObject('SavedView', {
  id: uuidSchema,
  form_id: uuidSchema,
  name: Type.String(),
  query: ViewQuery,
  columns: orNull(TableSettings),
  created_by: Type.Union([Type.String(), Type.Null()], {
    description: 'The name of the member; null for an API key or a deleted account.',
  }),
  created_at: timestampSchema,
  updated_at: timestampSchema,
});
export type SavedView = Static<typeof SavedView>;

const viewColumns = columnsOf('id form_id name created_by? created_at updated_at', {
  query: jsonb<ViewQuery>(),
  columns: nullable(jsonb<TableSettings>()),
});

const savedViewParameters = columnsOf('workspace_id id name now', {
  query: jsonb<ViewQuery>(),
  columns: nullable(jsonb<TableSettings>()),
});

const viewSelection = `v.id, v.form_id, v.name, v.query, v.columns, u.name as created_by, v.created_at, v.updated_at`;

/** Selects the saved views of a form, sorted by name. */
const listSavedViews = statement('workspace_id form_id', viewColumns)`
  select ${viewSelection} from saved_views v left join users u on u.id = v.created_by
  where v.workspace_id = $workspace_id and v.form_id = $form_id
  order by lower(v.name), v.id`;

/** Selects a saved view of a form that is not deleted. */
export const findSavedView = statement('workspace_id id', viewColumns)`
  select ${viewSelection} from saved_views v
  join forms f on f.workspace_id = v.workspace_id and f.id = v.form_id and f.deleted_at is null
  left join users u on u.id = v.created_by
  where v.workspace_id = $workspace_id and v.id = $id`;

/**
 * Saves a view. Returns nothing if the form is deleted or has the maximum number of views. A duplicate name
 * violates saved_views_by_name.
 */
const insertSavedView = statement(['form_id created_by? most', savedViewParameters], 'id')`
  insert into saved_views (workspace_id, id, form_id, name, query, columns, created_by, created_at, updated_at)
  select workspace_id, $id, id, $name, $query, $columns, $created_by, $now, $now from forms
  where workspace_id = $workspace_id and id = $form_id and deleted_at is null
    and $most > (select count(*) from saved_views v where v.workspace_id = $workspace_id and v.form_id = $form_id)
  returning id`;

/** Locks a saved view for changing, and returns its current values. */
const lockSavedView = statement('workspace_id id', [
  'name updated_at',
  { query: jsonb<ViewQuery>(), columns: nullable(jsonb<TableSettings>()) },
])`
  select name, query, columns, updated_at from saved_views where workspace_id = $workspace_id and id = $id for update`;

const updateSavedView = statement(savedViewParameters, '')`
  update saved_views set name = $name, query = $query, columns = $columns,
    updated_at = greatest($now, updated_at + interval '1 ms')
  where workspace_id = $workspace_id and id = $id`;

const deleteSavedView = statement('workspace_id id', 'id')`
  delete from saved_views where workspace_id = $workspace_id and id = $id returning id`;

/** The maximum number of views per form. */
export const mostSavedViews = 100;
const longestName = 100;

const name = Type.String({ minLength: 1, maxLength: longestName });
const query = Type.Object(ViewQuery.properties, {
  additionalProperties: false,
  description: "The parameters for listing and exporting the form's submissions: a filter, `q` and `sort`.",
});
const columns = Type.Union([TableSettings, Type.Null()], {
  description: "How the console arranges the table in this view; null to use each member's own arrangement.",
});

type SavedViewInput = { name: string; query: ViewQuery; columns: TableSettings | null };

/**
 * Operations for named views, which are visible to all members who can read the submissions of the form
 * (docs/decisions/0069).
 */
export function savedViewEndpoints({ database }: { database: Database }) {
  return {
    listViews: operation({
      summary: 'List views',
      description: 'Returns the saved views of a form, sorted by name.',
      permission: 'submissions:read',
      params: idParameter,
      reply: { status: 200, description: 'The views.', schema: Type.Object({ data: Type.Array(SavedView) }) },
      async run({ params, ...scope }) {
        const { workspaceId, formId } = await requireReachableForm(database, scope, params.id);
        const found = await listSavedViews(database, { workspace_id: workspaceId, form_id: formId });
        return { body: { data: found.map(asWireValue) } };
      },
    }),

    saveView: operation({
      summary: 'Save view',
      description: `Saves a filter, search, order and columns of a form's submissions under a name, for all members of the workspace. A form can have up to ${mostSavedViews} views. 409 if the form has that many, or if a view has this name.`,
      permission: 'submissions:write',
      audit: 'entry',
      params: idParameter,
      body: strictObject({ name, query, columns: Type.Optional(columns) }),
      example: { body: { name: 'Incomplete', query: { status: 'incomplete', sort: '-$updated' } } },
      errors: ['conflict'],
      reply: { status: 201, description: 'The view.', schema: SavedView },
      async run({ params, body, ...scope }) {
        const { workspaceId, formId } = await requireReachableForm(database, scope, params.id);
        const written = await check({ workspaceId, formId }, { columns: null, ...body });
        const id = newId();
        const created_by = scope.actor.kind === 'person' ? scope.actor.id : null;
        const key = { workspace_id: workspaceId, form_id: formId, id };
        const created = await refuseDuplicateName(
          transaction(database, async (client) => {
            // Because of the lock, parallel requests count this view too.
            await lockForm(client, { workspace_id: workspaceId, id: formId });
            return insertSavedView(client, {
              ...key,
              ...written,
              created_by,
              now: now(),
              most: mostSavedViews,
            });
          }),
        );
        if (created.length === 0)
          throw new ApiError(
            'conflict',
            `A form can have at most ${mostSavedViews} saved views. Delete one first.`,
          );
        return show(scope, id);
      },
    }),

    getView: operation({
      summary: 'Get view',
      permission: 'submissions:read',
      params: idParameter,
      reply: { status: 200, description: 'The view.', schema: SavedView },
      run: ({ params, ...scope }) => show(scope, params.id),
    }),

    changeView: operation({
      summary: 'Change view',
      description:
        'Updates the view for all members of the workspace. Omitted properties stay unchanged; `query` and `columns` are replaced as a whole. 409 if another view of the form has this name.',
      permission: 'submissions:write',
      audit: 'entry',
      params: idParameter,
      body: strictObject({
        name: Type.Optional(name),
        query: Type.Optional(query),
        columns: Type.Optional(columns),
      }),
      example: { body: { name: 'To call back' } },
      errors: ['conflict'],
      isConditional: true,
      reply: { status: 200, description: 'The updated view.', schema: SavedView },
      async run({ params, body, unchanged, ...scope }) {
        const { form_id: formId } = await find(scope, params.id);
        const given = await check({ workspaceId: scope.workspaceId, formId }, body);
        await refuseDuplicateName(
          changing(scope, params.id, unchanged, (client, key, before) =>
            updateSavedView(client, { ...before, ...given, ...key, now: now() }),
          ),
        );
        return show(scope, params.id);
      },
    }),

    deleteView: operation({
      summary: 'Delete view',
      description: 'Deletes the view for all members of the workspace. The submissions stay.',
      permission: 'submissions:write',
      audit: 'entry',
      params: idParameter,
      isConditional: true,
      isDestructive: true,
      reply: { status: 204, description: 'The view is deleted.' },
      async run({ params, unchanged, ...scope }) {
        await find(scope, params.id);
        await changing(scope, params.id, unchanged, deleteSavedView);
      },
    }),
  };

  /** Returns a saved view that the caller can access. @throws ApiError not_found. */
  async function find({ workspaceId, formIds }: Pick<RequestScope, 'workspaceId' | 'formIds'>, id: string) {
    const found = requireRow(await findSavedView(database, { workspace_id: workspaceId, id }));
    requireFormAccess(formIds, found.form_id);
    return found;
  }

  async function show(scope: Pick<RequestScope, 'workspaceId' | 'formIds'>, id: string) {
    const found = await find(scope, id);
    return { body: asWireValue(found), tag: formatEtag(found.updated_at) };
  }

  /**
   * Checks that the query of a view can be run now. Omitted properties are already saved and not checked.
   * @throws ApiError bad_request for a query that cannot be parsed; validation_error for an invalid name.
   */
  async function check<Given extends Partial<SavedViewInput>>(
    form: { workspaceId: string; formId: string },
    given: Given,
  ): Promise<Given> {
    const { query, columns: arranged } = given;
    const name = given.name === undefined ? undefined : trimText(given.name);
    const texts = [name, ...Object.values(query ?? {}), ...Object.keys(arranged?.widths ?? {})];
    const isClean = [...texts, ...(arranged?.order ?? []), ...(arranged?.hidden ?? [])].every(
      (text) => typeof text !== 'string' || isCleanText(text),
    );
    if (name === '' || !isClean) {
      const message = 'The name of a view must not be blank or contain characters that cannot be stored.';
      const code = name === '' ? 'required' : 'not_storable';
      throw new ApiError('validation_error', message, { errors: [{ field: 'name', message, code }] });
    }
    if (query) await readTableView(database, form, query);
    return name === undefined ? given : { ...given, name };
  }

  /** @throws ApiError not_found, precondition_failed. */
  function changing(
    { workspaceId }: Pick<RequestScope, 'workspaceId'>,
    id: string,
    unchanged: IfMatchTimes,
    change: (
      client: Queryable,
      key: { workspace_id: string; id: string },
      before: SavedViewInput,
    ) => Promise<unknown>,
  ): Promise<void> {
    return transaction(database, async (client) => {
      const key = { workspace_id: workspaceId, id };
      const locked = requireRow(await lockSavedView(client, key));
      const { updated_at, ...before } = locked;
      requireUnchanged(unchanged, updated_at);
      await change(client, key, before);
    });
  }
}

const uniqueViolation = '23505';

/** @throws ApiError conflict if another view of the form has this name. */
async function refuseDuplicateName<Result>(writing: Promise<Result>): Promise<Result> {
  try {
    return await writing;
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== uniqueViolation) throw cause;
    const message = 'Another view of this form has this name. Choose another name.';
    throw new ApiError('conflict', message, {
      errors: [{ field: 'name', message, code: 'duplicate' }],
      cause,
    });
  }
}
