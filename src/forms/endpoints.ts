import { Type } from 'typebox';
import type { Database } from '#kit/database.ts';
import { endpoint, idParameter } from '#kit/endpoint.ts';
import { ApiError } from '#kit/errors.ts';
import { pageParameters, paginate, Pagination, readPage } from '#kit/pagination.ts';
import { requireReach } from '#workspaces/reach.ts';
import { changeForm, createForm, deleteForm } from './forms.ts';
import {
  CreatedForm,
  type FormAddresses,
  FormDetail,
  FormListItem,
  presentCreated,
  presentForm,
  presentListItem,
} from './present.ts';
import { countForms, findForm, formStatuses, listForms } from './queries.ts';

const structure = Type.Unsafe<object>({
  'x-component': 'Form',
  description: 'The form as a tree. Every problem is reported at once, with the path of its node.',
});
const status = Type.Enum([...formStatuses], { description: 'Only published forms accept submissions.' });
const settings = Type.Optional(
  Type.Unsafe<object>({
    type: 'object',
    'x-component': 'Settings',
    description: 'Replaces all settings but the password. Checked by its own rules (ast/settings.ts).',
  }),
);

/** The five operations on forms. Specification, "Forms". */
export function formEndpoints(context: {
  database: Database;
  addresses: FormAddresses;
  wakeQueue: () => void;
}) {
  const { database, addresses, wakeQueue } = context;

  const loadForm = async (workspaceId: string, id: string) => {
    const [row] = await findForm(database, { workspace_id: workspaceId, id });
    if (!row) throw new ApiError('not_found');
    return presentForm(row);
  };

  return {
    list: endpoint({
      summary: 'List forms',
      description: 'Newest first, without their structure.',
      permission: 'forms:read',
      query: Type.Object(
        { ...pageParameters, status: Type.Optional(status) },
        { additionalProperties: false },
      ),
      replies: {
        200: {
          description: 'A page of forms.',
          schema: Type.Object({ data: Type.Array(FormListItem), pagination: Pagination }),
        },
      },
      async run({ workspaceId, formIds, query }) {
        const page = readPage(query);
        const filter = {
          workspace_id: workspaceId,
          form_ids: formIds && [...formIds],
          status: query.status ?? null,
        };
        const [rows, [count]] = await Promise.all([
          listForms(database, { ...filter, limit: page.perPage, offset: page.offset }),
          countForms(database, filter),
        ]);
        return {
          status: 200,
          body: { data: rows.map(presentListItem), pagination: paginate(page, count!.total) },
        };
      },
    }),

    get: endpoint({
      summary: 'Get form',
      permission: 'forms:read',
      params: idParameter,
      replies: { 200: { description: 'The form.', schema: FormDetail } },
      async run({ workspaceId, formIds, params }) {
        requireReach(formIds, params.id);
        return { status: 200, body: await loadForm(workspaceId, params.id) };
      },
    }),

    create: endpoint({
      summary: 'Create form',
      description:
        'Name and description are taken from `structure.attrs`. The form is a draft unless `publish` is true.',
      permission: 'forms:write',
      body: Type.Object(
        { structure, publish: Type.Optional(Type.Boolean({ default: false })), settings },
        { additionalProperties: false },
      ),
      replies: {
        201: { description: 'The form, with the address where it is filled in.', schema: CreatedForm },
      },
      async run({ workspaceId, formIds, body }) {
        if (formIds !== null) {
          throw new ApiError('forbidden', 'This API key is limited to certain forms, and so creates none.');
        }
        const row = await createForm(database, workspaceId, {
          structure: body.structure,
          status: body.publish ? 'published' : 'draft',
          settings: body.settings,
        });
        return { status: 201, body: presentCreated(row, body.structure, addresses) };
      },
    }),

    update: endpoint({
      summary: 'Update form',
      description:
        'A published form changes at once. `status` publishes, takes back to draft, archives or restores.',
      permission: 'forms:write',
      params: idParameter,
      body: Type.Object(
        { structure, status: Type.Optional(status), settings },
        { additionalProperties: false },
      ),
      replies: { 200: { description: 'The form as it is now.', schema: FormDetail } },
      async run({ workspaceId, formIds, params, body }) {
        requireReach(formIds, params.id);
        await changeForm(database, workspaceId, params.id, {
          structure: body.structure,
          settings: body.settings,
          ...(body.status && { status: body.status }),
        });
        return { status: 200, body: await loadForm(workspaceId, params.id) };
      },
    }),

    remove: endpoint({
      summary: 'Delete form',
      description: 'The form and all its submissions are permanently deleted.',
      permission: 'forms:write',
      params: idParameter,
      replies: { 204: { description: 'The form is gone.' } },
      async run({ workspaceId, formIds, params }) {
        requireReach(formIds, params.id);
        await deleteForm(database, workspaceId, params.id);
        wakeQueue();
        return { status: 204 };
      },
    }),
  };
}
