import { Type } from 'typebox';
import type { Database } from '#kit/database.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { tagOf } from '#kit/conditional.ts';
import { belowId, endCut, listOf, listParameters, readCut } from '#kit/cursor.ts';
import { requireReach, requireWholeWorkspace } from '#workspaces/reach.ts';
import { requireAnswerReader } from './answer-settings.ts';
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
import { countForms, formStatuses, listForms } from './queries.ts';
import { requireForm } from './require-form.ts';

const structure = Type.Unsafe<object>({
  'x-component': 'Structure',
  description: 'The form as a tree. Every problem is reported at once, with the path of its node.',
});
const status = Type.Enum([...formStatuses], { description: 'Only published forms accept submissions.' });
const settings = Type.Optional(
  Type.Unsafe<object>({
    'x-component': 'SettingsChange',
    description:
      'Replaces all settings but the password. Checked by its own rules (ast/settings.ts). `notification_email` takes the permission submissions:read too.',
  }),
);

/** A form that asks one question. */
const example = {
  type: 'form',
  attrs: { name: 'Contact', description: 'How may we help?' },
  children: [
    {
      type: 'step',
      attrs: { title: 'Your message', layout: 'stack' },
      children: [
        { type: 'textarea', attrs: { id: 'message', label: 'Message', required: true }, children: [] },
      ],
    },
  ],
};

/** The five operations on forms. Specification, "Forms". */
export function formEndpoints(context: {
  database: Database;
  addresses: FormAddresses;
  wakeQueue: () => void;
}) {
  const { database, addresses, wakeQueue } = context;

  const loadForm = async (workspaceId: string, formId: string) => {
    const row = await requireForm(database, { workspaceId, formId });
    return { body: presentForm(row), tag: tagOf(row.updated_at, row.submission_count) };
  };

  return {
    list: operation({
      summary: 'List forms',
      description: 'Newest first, without their structure.',
      permission: 'forms:read',
      query: Type.Object(
        { ...listParameters, status: Type.Optional(status) },
        { additionalProperties: false },
      ),
      reply: {
        status: 200,
        description: 'A page of forms.',
        schema: listOf(FormListItem),
      },
      async run({ workspaceId, formIds, query }) {
        const cut = readCut(query, 'forms');
        const filter = {
          workspace_id: workspaceId,
          form_ids: formIds && [...formIds],
          status: query.status ?? null,
        };
        const [found, total] = await Promise.all([
          listForms(database, {
            ...filter,
            below_id: belowId(cut),
            limit: cut.limit,
            offset: cut.offset,
          }),
          cut.total ?? countForms(database, filter).then(([count]) => count!.total),
        ]);
        const { rows, ends } = endCut(cut, found, total);
        return { body: { data: rows.map(presentListItem), ...ends } };
      },
    }),

    get: operation({
      summary: 'Get form',
      permission: 'forms:read',
      params: idParameter,
      reply: { status: 200, description: 'The form.', schema: FormDetail },
      async run({ workspaceId, formIds, params }) {
        requireReach(formIds, params.id);
        return loadForm(workspaceId, params.id);
      },
    }),

    create: operation({
      summary: 'Create form',
      description:
        'Name and description are taken from `structure.attrs`. The form is a draft unless `publish` is true.',
      permission: 'forms:write',
      example: { body: { structure: example, publish: true } },
      body: Type.Object(
        { structure, publish: Type.Optional(Type.Boolean({ default: false })), settings },
        { additionalProperties: false },
      ),
      reply: {
        status: 201,
        description: 'The form, with the address where it is filled in.',
        schema: CreatedForm,
      },
      async run({ workspaceId, formIds, body, ...caller }) {
        requireWholeWorkspace(formIds);
        await requireAnswerReader(caller, body.settings, async () => ({}));
        const row = await createForm(database, workspaceId, {
          structure: body.structure,
          status: body.publish ? 'published' : 'draft',
          settings: body.settings,
        });
        return { body: presentCreated(row, body.structure, addresses), tag: tagOf(row.updated_at, 0) };
      },
    }),

    update: operation({
      summary: 'Update form',
      description:
        'A published form changes at once. `status` publishes, takes back to draft, archives or restores.',
      permission: 'forms:write',
      example: { body: { structure: example } },
      params: idParameter,
      body: Type.Object(
        { structure, status: Type.Optional(status), settings },
        { additionalProperties: false },
      ),
      reply: { status: 200, description: 'The form as it is now.', schema: FormDetail },
      isConditional: true,
      async run({ workspaceId, formIds, params, body, unchanged, ...caller }) {
        requireReach(formIds, params.id);
        const readSettings = async () =>
          (await requireForm(database, { workspaceId, formId: params.id })).settings;
        await requireAnswerReader(caller, body.settings, readSettings);
        await changeForm(database, workspaceId, params.id, {
          unchanged,
          structure: body.structure,
          settings: body.settings,
          ...(body.status && { status: body.status }),
        });
        return loadForm(workspaceId, params.id);
      },
    }),

    remove: operation({
      summary: 'Delete form',
      description: 'The form and all its submissions are permanently deleted.',
      permission: 'forms:write',
      params: idParameter,
      reply: { status: 204, description: 'The form is gone.' },
      isConditional: true,
      isDestructive: true,
      async run({ workspaceId, formIds, params, unchanged }) {
        requireReach(formIds, params.id);
        await deleteForm(database, workspaceId, params.id, unchanged);
        wakeQueue();
      },
    }),
  };
}
