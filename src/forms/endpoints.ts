import { type Static, Type } from 'typebox';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { type IfMatchTimes, requireUnchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { finishPage, listParameters, listSchemaOf, readPageRequest, upperIdBound } from '#kit/pagination.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { nullable, statement, textEnum } from '#kit/statement.ts';
import { strictObject } from '#kit/validation.ts';
import { personIdOf, requireWorkspaceAccess } from '#workspaces/authenticate.ts';
import { dryRun } from './dry-run.ts';
import {
  type FormAddresses,
  type FormStatus,
  formColumns,
  presentCreated,
  presentForm,
  presentListItem,
  readForm,
  requireForm,
  requireFormSettings,
  submissionCountSql,
} from './form-rows.ts';
import { changeForm, createForm, deleteForm } from './forms.ts';
import type { FormCandidate } from './judge-form.ts';
import { labelFilter, labelsShape, normalizeLabels } from './labels.ts';
import { patchedSettingsOf, patchForm, requireAllowedSettings } from './settings.ts';
import {
  ChangedForm,
  CreatedForm,
  dryRunParameter,
  exampleStructure,
  FormDetail,
  FormListItem,
  settingsShape,
  statusShape,
  structureShape,
} from './shapes.ts';

/** `readOnly`: generators, the command line and MCP leave the property out of requests. */
const ignored = (description: string) => Type.Optional(Type.Unsafe<unknown>({ readOnly: true, description }));
const fromReading = ignored('Ignored, so that an object returned by the API can be sent back.');

/**
 * Properties of a form that the API returns and no request can change. They are accepted so that a client can
 * read a form, change its structure and send back the whole object. Any other unknown property is an error.
 */
const returnedProperties = {
  id: ignored('Ignored in Create form. In Update form, it must match the id in the path.'),
  workspace_id: ignored('Must be the workspace of the API key.'),
  name: ignored('Must equal `structure.attrs.name`.'),
  description: ignored('Must equal `structure.attrs.description`; empty or null if the form has none.'),
  submission_count: fromReading,
  public_url: fromReading,
  builder_url: fromReading,
  created_at: fromReading,
  updated_at: fromReading,
  published_at: fromReading,
  last_submission_at: fromReading,
  last_activity_at: fromReading,
};

type Returned = Static<ReturnType<typeof Type.Object<typeof returnedProperties>>>;

/**
 * Checks that read-only properties in a body match the form.
 * @param expected.id the id in the path; undefined when a form is created.
 * @throws ApiError validation_error naming each property that differs.
 */
function requireSameForm(
  body: Returned & { readonly structure: unknown },
  expected: { readonly id?: string; readonly workspaceId: string },
): void {
  const attrs = isRecord(body.structure) ? getProperty(body.structure, 'attrs') : undefined;
  const attribute = (name: string): unknown => (isRecord(attrs) ? getProperty(attrs, name) : undefined);
  const errors: ErrorItem[] = [];
  const compare = (field: keyof Returned, isSame: boolean, message: string): void => {
    if (body[field] !== undefined && !isSame) errors.push({ field, message, code: 'mismatch' });
  };
  const isId = (given: unknown, id: string): boolean =>
    typeof given === 'string' && given.toLowerCase() === id.toLowerCase();
  if (expected.id !== undefined)
    compare('id', isId(body.id, expected.id), '"id" must be omitted or match the id in the path.');
  compare(
    'workspace_id',
    isId(body.workspace_id, expected.workspaceId),
    '"workspace_id" must be omitted or match the workspace of the API key.',
  );
  compare(
    'name',
    body.name === attribute('name'),
    '"name" must be omitted or equal "name" in structure.attrs. To rename the form, change it there.',
  );
  compare(
    'description',
    (body.description ?? '') === (attribute('description') ?? ''),
    '"description" must be omitted or equal "description" in structure.attrs. Change it there.',
  );
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
}

/** Lists one page of forms, newest first, limited to `form_ids` if given. */
const listForms = statement(
  ['workspace_id form_ids? label? below_id limit offset', { status: nullable(textEnum<FormStatus>()) }],
  ['submission_count', formColumns],
)`
  select f.id, f.workspace_id, f.name, f.description, f.status, f.labels, f.created_at, f.updated_at, f.published_at,
         ${submissionCountSql} as submission_count
  from forms f
  where f.workspace_id = $workspace_id and f.deleted_at is null and ($status is null or f.status = $status)
    and ($form_ids is null or f.id = any ($form_ids)) and ($label is null or $label = any (f.labels))
    and f.id < $below_id
  order by f.id desc limit $limit offset $offset`;

const countForms = statement(
  ['workspace_id form_ids? label?', { status: nullable(textEnum<FormStatus>()) }],
  'total',
)`
  select count(*) as total from forms
  where workspace_id = $workspace_id and deleted_at is null and ($status is null or status = $status)
    and ($form_ids is null or id = any ($form_ids)) and ($label is null or $label = any (labels))`;

const body = {
  structure: structureShape,
  settings: Type.Optional(settingsShape),
  labels: labelsShape,
  ...returnedProperties,
};

/** The five form operations of the specification ("Forms"), and Change form. */
export function formEndpoints(context: {
  database: Database;
  addresses: FormAddresses;
  wakeQueue: () => void;
}) {
  const { database, addresses, wakeQueue } = context;

  /** Returns the current form, and what a change to it would do. */
  const tryChange = async (
    scope: Pick<RequestScope, 'workspaceId' | 'may' | 'sendsEmail'>,
    formId: string,
    { structure, settings, unchanged }: Partial<FormCandidate> & { unchanged: IfMatchTimes },
  ) => {
    const row = await requireForm(database, { workspaceId: scope.workspaceId, formId });
    requireUnchanged(unchanged, row.updated_at);
    const candidate = { structure: structure ?? row.structure, settings };
    const found = await dryRun(database, { ...scope, formId }, candidate);
    return {
      body: { ...presentForm(row), dry_run: found },
      tag: formatEtag(row.updated_at, row.submission_count),
    };
  };

  return {
    listForms: operation({
      summary: 'List forms',
      description: 'Returns forms, newest first, without their structure.',
      permission: 'forms:read',
      query: strictObject({ ...listParameters, status: Type.Optional(statusShape), label: labelFilter }),
      reply: { status: 200, description: 'A page of forms.', schema: listSchemaOf(FormListItem) },
      async run({ workspaceId, formIds, query }) {
        const cut = readPageRequest(query, 'forms');
        const filter = {
          workspace_id: workspaceId,
          form_ids: formIds && [...formIds],
          status: query.status ?? null,
          label: query.label ?? null,
        };
        const [found, total] = await Promise.all([
          listForms(database, {
            ...filter,
            below_id: upperIdBound(cut),
            limit: cut.limit,
            offset: cut.offset,
          }),
          cut.total ?? countForms(database, filter).then(([count]) => count!.total),
        ]);
        const { rows, ends } = finishPage(cut, found, total);
        return { body: { data: rows.map(presentListItem), ...ends } };
      },
    }),

    getForm: operation({
      summary: 'Get form',
      permission: 'forms:read',
      params: idParameter,
      reply: { status: 200, description: 'The form.', schema: FormDetail },
      async run({ workspaceId, params }) {
        return readForm(database, { workspaceId, formId: params.id });
      },
    }),

    createForm: operation({
      summary: 'Create form',
      description:
        'Creates a form. Its name and description come from `structure.attrs`. The form is a draft unless `publish` is true. You can also send an object that the API returned: its read-only properties are ignored.',
      permission: 'forms:write',
      audit: 'own entry',
      example: { body: { structure: exampleStructure, publish: true } },
      body: strictObject({
        ...body,
        publish: Type.Optional(Type.Boolean({ default: false })),
        status: Type.Optional(
          Type.Unsafe<unknown>({ description: 'Ignored: set `publish` to create a published form.' }),
        ),
      }),
      reply: { status: 201, description: 'The form, with the URL of its public page.', schema: CreatedForm },
      async run({ workspaceId, formIds, body, line, ...caller }) {
        requireWorkspaceAccess(formIds);
        requireSameForm(body, { workspaceId });
        await requireAllowedSettings(caller, body.settings, async () => ({}));
        const { structure, settings, publish } = body;
        const labels = normalizeLabels(body.labels ?? []);
        const status = publish ? 'published' : 'draft';
        const changedBy = personIdOf(caller.actor);
        const row = await createForm(
          database,
          workspaceId,
          { structure, status, settings, labels, changedBy },
          line,
        );
        return { body: presentCreated(row, body.structure, addresses), tag: formatEtag(row.updated_at, 0) };
      },
    }),

    updateForm: operation({
      summary: 'Update form',
      description:
        'Updates a form. Changes to a published form are live immediately. `status` publishes, unpublishes, archives or restores the form; `publish: true` also publishes it. You can send an object that the API returned: its read-only properties are ignored.',
      permission: 'forms:write',
      audit: { changes: 'getForm' },
      example: { body: { structure: exampleStructure } },
      params: idParameter,
      query: dryRunParameter,
      body: strictObject({
        ...body,
        status: Type.Optional(statusShape),
        publish: Type.Optional(
          Type.Boolean({
            default: false,
            description: '`true` publishes the form, regardless of `status`.',
          }),
        ),
      }),
      reply: { status: 200, description: 'The form.', schema: ChangedForm },
      isConditional: true,
      async run({ params, query, body, unchanged, ...scope }) {
        const key = { workspaceId: scope.workspaceId, formId: params.id };
        requireSameForm(body, { id: params.id, workspaceId: scope.workspaceId });
        const labels = body.labels && normalizeLabels(body.labels);
        const status = body.publish ? 'published' : body.status;
        const readSettings = () => requireFormSettings(database, key);
        await requireAllowedSettings(scope, body.settings, readSettings);
        if (query.dry_run) return tryChange(scope, params.id, { ...body, unchanged });
        const changedBy = personIdOf(scope.actor);
        const change = { unchanged, structure: body.structure, settings: body.settings, labels, changedBy };
        await transaction(database, (client) =>
          changeForm(client, key.workspaceId, params.id, { ...change, ...(status && { status }) }),
        );
        return readForm(database, key);
      },
    }),

    changeForm: operation({
      summary: 'Change form',
      description:
        'Changes settings, status and labels, but not the structure, as a JSON merge patch (RFC 7396): omitted settings are kept, and null removes a setting. Changes are live immediately. The working copy also gets these changes, except for settings that were changed there.',
      permission: 'forms:write',
      audit: { changes: 'getForm' },
      example: { body: { settings: { confirmation_message: 'Thank you.' } } },
      params: idParameter,
      query: dryRunParameter,
      body: strictObject({
        settings: Type.Optional(
          Type.Unsafe<object>({
            type: 'object',
            description:
              'The settings to change. `notification_email` and `notifications` also require the permission submissions:read.',
          }),
        ),
        status: Type.Optional(statusShape),
        labels: labelsShape,
      }),
      reply: { status: 200, description: 'The form.', schema: ChangedForm },
      isConditional: true,
      async run({ params, query, body, unchanged, ...scope }) {
        const key = { workspaceId: scope.workspaceId, formId: params.id };
        const labels = body.labels && normalizeLabels(body.labels);
        if (!query.dry_run) {
          await patchForm(database, {
            ...key,
            ...body,
            labels,
            unchanged,
            userId: personIdOf(scope.actor),
            caller: scope,
          });
          return readForm(database, key);
        }
        const settings = await requireFormSettings(database, key);
        const changes = patchedSettingsOf(settings, body.settings ?? {});
        await requireAllowedSettings(scope, changes, async () => settings);
        return tryChange(scope, params.id, { settings: { ...settings, ...changes }, unchanged });
      },
    }),

    deleteForm: operation({
      summary: 'Delete form',
      description: 'Permanently deletes the form and all its submissions.',
      permission: 'forms:write',
      audit: { changes: 'getForm' },
      params: idParameter,
      reply: { status: 204, description: 'The form is deleted.' },
      isConditional: true,
      isDestructive: true,
      async run({ workspaceId, params, actor, unchanged }) {
        await deleteForm(database, workspaceId, params.id, actor, unchanged);
        wakeQueue();
      },
    }),
  };
}
