import { type Static, Type } from 'typebox';
import { now } from '#kit/clock.ts';
import { hashResponse, requireUnchanged } from '#kit/conditional.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { namedObject } from '#kit/pagination.ts';
import { formatEtag } from '#kit/replies/etag.ts';
import { jsonb, nullable, onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import type { PersonalPermission } from '#rules/permissions.ts';
import { requireFormAccess, requireWorkspaceAccess } from '#workspaces/authenticate.ts';
import {
  applyRetentionChange,
  effectiveRetentionDays,
  type Retention,
  type RetentionKind,
  retentionChangeSchema,
  retentionKinds,
  retentionRules,
} from '#workspaces/retention.ts';

import { declareRetentionCount, mostCounted } from './apply.ts';

/** Selects the retention rules of a workspace, and optionally of a form, with their last change. */
export const findRetention = statement('workspace_id form_id?', [
  'audit_days workspace_updated_at:timestamp form_updated_at:timestamp?',
  { workspace: jsonb<Retention>(), form: nullable(jsonb<Retention>()) },
])`
  select w.retention as workspace, f.retention as form, w.audit_days, w.updated_at as workspace_updated_at,
         f.updated_at as form_updated_at
    from workspaces w
    left join forms f on f.workspace_id = w.id and f.id = $form_id and f.deleted_at is null
   where w.id = $workspace_id`;

const updateWorkspaceRetention = statement(
  ['workspace_id audit_days? now', { retention: jsonb<Retention>() }],
  '',
)`
  update workspaces set retention = $retention, audit_days = coalesce($audit_days, audit_days), updated_at = $now
   where id = $workspace_id`;

const updateFormRetention = statement(['workspace_id form_id now', { retention: jsonb<Retention>() }], '')`
  update forms set retention = $retention, updated_at = $now where workspace_id = $workspace_id and id = $form_id`;

/** Locks a workspace to change its rules or those of its forms. */
const lockRetention = statement('workspace_id', '')`
  select from workspaces where id = $workspace_id for update`;

/** Selects the forms of a workspace that have their own rules, sorted by name. */
const selectFormRetentions = statement('workspace_id limit', ['id name', { retention: jsonb<Retention>() }])`
  select id, name, retention from forms
   where workspace_id = $workspace_id and deleted_at is null and retention <> '{}'
   order by name, id limit $limit`;

/**
 * Counts the data of each kind that expires now, within a week and within a month, and finds when the next
 * item will expire.
 */
const countDue = Object.fromEntries(
  retentionKinds.map((kind) => [kind, declareRetentionCount(kind)]),
) as Record<RetentionKind, ReturnType<typeof declareRetentionCount>>;

const dayMs = 86_400_000;
/** The maximum number of forms with their own rules that are listed. */
const mostForms = 1_000;

const days = Type.Unsafe<number | 'forever'>(
  Type.Union([Type.Integer({ description: 'Number of days.' }), Type.Literal('forever')]),
);
const Rule = Type.Object({
  kind: Type.Enum([...retentionKinds]),
  days,
  said_by: Type.Enum(['form', 'workspace', 'default', 'operator'], {
    description:
      'Where the value comes from. `operator`: the limit of the instance, which no rule can exceed.',
  }),
  most_days: Type.Integer(),
  may_stay: Type.Boolean({ description: 'Whether `forever` is allowed.' }),
  means: Type.String(),
});
const amount = Type.Integer({ description: `${mostCounted + 1} means more than ${mostCounted}.` });
const Due = Type.Object({
  kind: Type.Enum([...retentionKinds]),
  days,
  due_now: amount,
  due_in_7_days: amount,
  due_in_30_days: amount,
  next_at: orNull(
    Type.String({
      format: 'date-time',
      description: 'When the next item expires; null if none expires within 30 days.',
    }),
  ),
});
const AuditDays = Type.Integer({ minimum: 30, maximum: 3_650 });
export const RetentionShape = namedObject('Retention', {
  rules: Type.Array(Rule),
  audit_days: Type.Integer({ description: 'How many days the audit log is kept.' }),
  forms: Type.Array(Type.Object({ id: uuidSchema, name: Type.String() }), {
    description: `Forms with their own rules, at most ${mostForms}.`,
  }),
  updated_at: timestampSchema,
});
export const FormRetentionShape = namedObject('FormRetention', {
  rules: Type.Array(Rule),
  updated_at: timestampSchema,
});
const Preview = namedObject('RetentionPreview', { data: Type.Array(Due) });

type RetentionRules = { workspace: Retention; form: Retention | null };

/** Operations that read, change and preview the retention of a workspace and its forms. */
export function retentionEndpoints({
  database,
  config,
}: {
  database: Database;
  config: { deliveryRetentionDays: number };
}) {
  const operatorDays = config.deliveryRetentionDays;

  const rulesOf = ({ workspace, form }: RetentionRules): Static<typeof Rule>[] =>
    retentionKinds.map((kind) => {
      const { most, mayStay, means, default: usual } = retentionRules[kind];
      const days = effectiveRetentionDays(kind, operatorDays, form ?? undefined, workspace);
      const isSetBy = (rules: Retention | null): boolean => rules?.[kind] === days;
      return {
        kind,
        days,
        said_by: isSetBy(form)
          ? ('form' as const)
          : form?.[kind] === undefined && isSetBy(workspace)
            ? ('workspace' as const)
            : usual === 'operator'
              ? ('operator' as const)
              : ('default' as const),
        most_days: usual === 'operator' ? operatorDays : most,
        may_stay: mayStay,
        means,
      };
    });

  const load = async (db: Queryable, workspaceId: string, formId: string | null) => {
    const found = onlyRow(await findRetention(db, { workspace_id: workspaceId, form_id: formId }));
    if (!found || (formId !== null && !found.form)) throw new ApiError('not_found');
    return found;
  };
  const readWorkspace = async (workspaceId: string) => {
    const found = await load(database, workspaceId, null);
    const own = await selectFormRetentions(database, { workspace_id: workspaceId, limit: mostForms });
    const body = {
      rules: rulesOf({ workspace: found.workspace, form: null }),
      audit_days: found.audit_days,
      forms: own.map(({ id, name }) => ({ id, name })),
      updated_at: found.workspace_updated_at.toISOString(),
    };
    return { body, tag: formatEtag(found.workspace_updated_at, hashResponse(body)) };
  };
  const readForm = async (workspaceId: string, formId: string) => {
    const found = await load(database, workspaceId, formId);
    const updatedAt = found.form_updated_at!;
    const body = { rules: rulesOf(found), updated_at: updatedAt.toISOString() };
    return { body, tag: formatEtag(updatedAt, hashResponse(body)) };
  };

  return {
    getRetention: operation({
      summary: 'Get retention',
      description:
        'Returns the retention rules of the workspace. Expired data is erased everywhere, including events, deliveries, emails and files.',
      permission: 'workspace:read',
      reply: { status: 200, description: 'The current rules.', schema: RetentionShape },
      async run({ workspaceId, formIds }) {
        requireWorkspaceAccess(formIds);
        return readWorkspace(workspaceId);
      },
    }),

    changeRetention: operation({
      summary: 'Change retention',
      description:
        'Omitted rules keep their value; `null` restores the default. Data past its new limit is deleted permanently within minutes: `POST /retention/preview` shows how much. Only owners can change `audit_days`; API keys cannot.',
      permission: 'people:write',
      audit: { fields: ['submissions', 'incomplete', 'files', 'mails', 'deliveries', 'trash', 'audit_days'] },
      body: strictObject({ ...retentionChangeSchema, audit_days: Type.Optional(AuditDays) }),
      example: { body: { incomplete: 30 } },
      isConditional: true,
      reply: { status: 200, description: 'The new rules.', schema: RetentionShape },
      async run({ body: { audit_days, ...change }, unchanged, ...scope }) {
        const { workspaceId } = scope;
        requireWorkspaceAccess(scope.formIds);
        if (audit_days !== undefined && !scope.may('members:owners' satisfies PersonalPermission))
          throw new ApiError('forbidden', 'Only an owner can change how long the audit log is kept.');
        await transaction(database, async (client) => {
          await lockRetention(client, { workspace_id: workspaceId });
          const { workspace, workspace_updated_at } = await load(client, workspaceId, null);
          requireUnchanged(unchanged, workspace_updated_at);
          const retention = applyRetentionChange(workspace, change);
          await updateWorkspaceRetention(client, {
            workspace_id: workspaceId,
            retention,
            audit_days: audit_days ?? null,
            now: now(),
          });
        });
        return readWorkspace(workspaceId);
      },
    }),

    getFormRetention: operation({
      summary: 'Get retention of a form',
      permission: 'forms:read',
      params: idParameter,
      reply: { status: 200, description: 'The current rules of the form.', schema: FormRetentionShape },
      async run({ workspaceId, params }) {
        return readForm(workspaceId, params.id);
      },
    }),

    changeFormRetention: operation({
      summary: 'Change retention of a form',
      description:
        "The form's rules override those of its workspace; `null` restores the workspace rule. Data past its new limit is deleted permanently within minutes.",
      permission: 'people:write',
      audit: { fields: ['submissions', 'incomplete', 'files', 'mails', 'deliveries', 'trash'] },
      params: idParameter,
      body: strictObject(retentionChangeSchema),
      example: { body: { submissions: 365 } },
      isConditional: true,
      reply: { status: 200, description: 'The new rules of the form.', schema: FormRetentionShape },
      async run({ workspaceId, params, body, unchanged }) {
        await transaction(database, async (client) => {
          await lockRetention(client, { workspace_id: workspaceId });
          const { form, form_updated_at } = await load(client, workspaceId, params.id);
          requireUnchanged(unchanged, form_updated_at!);
          const retention = applyRetentionChange(form!, body);
          await updateFormRetention(client, {
            workspace_id: workspaceId,
            form_id: params.id,
            retention,
            now: now(),
          });
        });
        return readForm(workspaceId, params.id);
      },
    }),

    previewRetention: operation({
      summary: 'Preview retention',
      description:
        'Returns how much data expires now, within a week and within a month, in the workspace or one form. Uses the current rules, or those in the request. Changes nothing.',
      permission: 'workspace:read',
      audit: { none: 'It changes nothing.' },
      body: strictObject({ form_id: Type.Optional(uuidSchema), ...retentionChangeSchema }),
      isBodyOptional: true,
      example: { body: { submissions: 365 } },
      reply: { status: 200, description: 'The amounts by kind of data.', schema: Preview },
      async run({ workspaceId, formIds, body: { form_id, ...change } }) {
        if (form_id === undefined) requireWorkspaceAccess(formIds);
        else requireFormAccess(formIds, form_id);
        const found = await load(database, workspaceId, form_id ?? null);
        const proposed: RetentionRules =
          form_id === undefined
            ? { workspace: applyRetentionChange(found.workspace, change), form: null }
            : { workspace: found.workspace, form: applyRetentionChange(found.form!, change) };
        const data: Static<typeof Due>[] = [];
        for (const kind of retentionKinds) data.push(await readDue(kind, workspaceId, form_id, proposed));
        return { body: { data } };
      },
    }),
  };

  async function readDue(
    kind: RetentionKind,
    workspaceId: string,
    formId: string | undefined,
    { workspace, form }: RetentionRules,
  ): Promise<Static<typeof Due>> {
    const at = now();
    const inDays = (count: number): Date => new Date(at.getTime() + count * dayMs);
    const [due] = await countDue[kind](database, {
      workspace_id: workspaceId,
      form_id: formId ?? null,
      workspace_rules: workspace,
      form_rules: form,
      now: at,
      week: inDays(7),
      month: inDays(30),
      ...(kind === 'deliveries' && { operator_days: operatorDays }),
    });
    return {
      kind,
      days: effectiveRetentionDays(kind, operatorDays, form ?? undefined, workspace),
      due_now: due!.now,
      due_in_7_days: due!.week,
      due_in_30_days: due!.month,
      next_at: due!.next_at?.toISOString() ?? null,
    };
  }
}
