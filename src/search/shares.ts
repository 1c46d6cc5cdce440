import { type Static, Type } from 'typebox';
import { isCleanText, trimText } from '#ast/basics/text.ts';
import { asksForName, identifiesPerson } from '#ast/form/identifies.ts';
import { type InputElement, listQuestions } from '#ast/form/tree.ts';
import { hashPasswordChange, publicOriginOf, requireForm, requireReachableForm } from '#forms/form-rows.ts';
import { newId, now, uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { namedObject } from '#kit/pagination.ts';
import { columns, type RowOf, requireRow, statement, textEnum } from '#kit/statement.ts';
import { orNull, strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import { signLink, type Vault, verifyLink } from '#kit/vault.ts';
import { listColumnsOfVersions } from '#submissions/columns.ts';
import { readAnsweredStructures, readViewedForm } from '#submissions/read-columns.ts';
import type { Summary } from '#submissions/shapes.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import { linkDomainSql } from '#workspaces/domains.ts';
import { readFormFilter } from './filter/read-filter.ts';
import { notCompared, readSummary } from './summary-endpoints.ts';

const shareKinds = ['summary', 'table'] as const;
type ShareKind = (typeof shareKinds)[number];

const shareColumns = columns(
  'id form_id title:text elements expires_at? password_hash? domain:text? created_at updated_at',
  {
    kind: textEnum<ShareKind>(),
  },
);
type ShareRow = RowOf<typeof shareColumns>;
const selection = `s.id, s.form_id, s.title, s.kind, s.elements, s.expires_at, s.password_hash, s.created_at, s.updated_at,
  ${linkDomainSql('s.workspace_id')} as domain`;

const listShares = statement('workspace_id form_id', shareColumns)`
  select ${selection} from shares s
  where s.workspace_id = $workspace_id and s.form_id = $form_id order by s.id desc`;

const findShare = statement('workspace_id id', shareColumns)`
  select ${selection} from shares s
  join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id and f.deleted_at is null
  where s.workspace_id = $workspace_id and s.id = $id`;

/** Selects the shares of the form in a link, which also determines the workspace. */
const findSharesOfLink = statement('form_id', ['workspace_id', shareColumns])`
  select s.workspace_id, ${selection}
  from form_lookup l
  join forms f on f.workspace_id = l.workspace_id and f.id = l.form_id and f.deleted_at is null
  join shares s on s.workspace_id = f.workspace_id and s.form_id = f.id
  where l.form_id = $form_id`;

/** Inserts a share unless the form has the maximum number. */
const insertShare = statement(
  [
    'workspace_id id form_id title:text elements expires_at? password_hash? now most',
    { kind: textEnum<ShareKind>() },
  ],
  'id',
)`
  insert into shares (workspace_id, id, form_id, title, kind, elements, expires_at, password_hash, created_at, updated_at)
  select workspace_id, $id, id, $title, $kind, $elements, $expires_at, $password_hash, $now, $now from forms
  where workspace_id = $workspace_id and id = $form_id and deleted_at is null
    and $most > (select count(*) from shares s where s.workspace_id = $workspace_id and s.form_id = $form_id)
  returning id`;

/** Changes a share. Null keeps a value; expiry and password have their own flags. */
const updateShare = statement(
  [
    'workspace_id id title:text? kind:text? elements? changes_expiry:boolean expires_at?',
    'changes_password:boolean password_hash? now',
  ],
  'id',
)`
  update shares set
    title = coalesce($title, title), kind = coalesce($kind, kind), elements = coalesce($elements, elements),
    expires_at = case when $changes_expiry then $expires_at else expires_at end,
    password_hash = case when $changes_password then $password_hash else password_hash end,
    updated_at = greatest($now, updated_at + interval '1 ms')
  where workspace_id = $workspace_id and id = $id returning id`;

const deleteShare = statement('workspace_id id', 'id')`
  delete from shares where workspace_id = $workspace_id and id = $id returning id`;

/** The maximum number of shares per form. */
const mostShares = 50;

const Warning = Type.Object({ element: Type.String(), message: Type.String() });
const Share = namedObject('Share', {
  id: uuidSchema,
  form_id: uuidSchema,
  title: Type.String(),
  kind: Type.Enum([...shareKinds]),
  elements: Type.Array(Type.String()),
  has_password: Type.Boolean(),
  expires_at: orNull(timestampSchema),
  url: Type.String({ format: 'uri', description: 'The page. Everyone who has this link can read it.' }),
  warnings: Type.Array(Warning, { description: 'The chosen questions that ask for personal data.' }),
  created_at: timestampSchema,
  updated_at: timestampSchema,
});
const ShareableElement = Type.Object({
  id: Type.String(),
  label: Type.String(),
  is_personal: Type.Boolean(),
});
type ShareableElement = Static<typeof ShareableElement>;

/** The properties that a request sets. Each has a default. */
const ShareChange = strictObject({
  title: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'The heading of the page.' }),
  ),
  kind: Type.Optional(
    Type.Enum([...shareKinds], {
      description: '`summary` counts the answers to each question; `table` lists each submission.',
    }),
  ),
  elements: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      maxItems: 1_000,
      description:
        'The IDs of the questions to show. By default, all except those that ask for personal data, such as an email address, a name or a file.',
    }),
  ),
  expires_at: Type.Optional(
    orNull(Type.String({ format: 'date-time', description: 'When the link stops working; null: never.' })),
  ),
  password: Type.Optional(
    orNull(Type.String({ minLength: 4, maxLength: 128, description: 'Visitors must enter it; null: none.' })),
  ),
});
type ShareChange = Static<typeof ShareChange>;

type FormKey = { workspaceId: string; formId: string };

const isPersonal = (input: InputElement): boolean => identifiesPerson(input) || asksForName(input);

/** Lists the questions of all answered versions, and whether their answers are personal data. */
async function listShareable(database: Database, form: FormKey): Promise<ShareableElement[]> {
  const versions = await readAnsweredStructures(database, form);
  const personal = new Set(
    versions
      .flatMap((version) => listQuestions(version))
      .filter((question) =>
        question.kind === 'group' ? question.inputs.some(isPersonal) : isPersonal(question.element),
      )
      .map(({ element }) => element.attrs.id),
  );
  return listColumnsOfVersions(versions).map(({ id, label }) => ({
    id,
    label,
    is_personal: personal.has(id),
  }));
}

/** Operations for results that everyone with a link can read, at `/r/<token>` (src/page/results.ts). */
export function shareEndpoints({
  database,
  vault,
  config,
}: {
  database: Database;
  vault: Vault;
  config: { publicUrl: string };
}) {
  const present = (workspaceId: string, row: ShareRow, elements: readonly ShareableElement[]) => {
    const { password_hash, domain, form_id: formId, expires_at, created_at, updated_at, ...share } = row;
    const signature = signLink(vault, 'result links', { workspaceId, formId, id: row.id });
    return {
      ...share,
      form_id: formId,
      has_password: password_hash !== null,
      expires_at: expires_at && expires_at.toISOString(),
      url: `${publicOriginOf(config, { domain })}/r/${formId}.${signature}`,
      warnings: elements
        .filter(({ id, is_personal }) => is_personal && row.elements.includes(id))
        .map(({ id, label }) => ({
          element: id,
          message: `"${label}" asks for personal data. Everyone with the link can read its answers.`,
        })),
      created_at: created_at.toISOString(),
      updated_at: updated_at.toISOString(),
    };
  };

  async function find({ workspaceId, formIds }: Pick<RequestScope, 'workspaceId' | 'formIds'>, id: string) {
    const found = requireRow(await findShare(database, { workspace_id: workspaceId, id }));
    requireFormAccess(formIds, found.form_id);
    return found;
  }

  const show = async (scope: RequestScope, id: string) => {
    const row = await find(scope, id);
    const form = { workspaceId: scope.workspaceId, formId: row.form_id };
    return { body: present(scope.workspaceId, row, await listShareable(database, form)) };
  };

  return {
    listShares: operation({
      summary: 'List shares',
      description:
        'Returns the links to results of a form, newest first, and `elements`: the questions that a share can show.',
      permission: 'submissions:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The shares.',
        schema: Type.Object({ data: Type.Array(Share), elements: Type.Array(ShareableElement) }),
      },
      async run({ params, ...scope }) {
        const form = await requireReachableForm(database, scope, params.id);
        const [rows, elements] = await Promise.all([
          listShares(database, { workspace_id: form.workspaceId, form_id: form.formId }),
          listShareable(database, form),
        ]);
        return { body: { data: rows.map((row) => present(form.workspaceId, row, elements)), elements } };
      },
    }),

    createShare: operation({
      summary: 'Create share',
      description: `Creates a link to results of a form. The page shows completed submissions as they are now. Also requires the permission submissions:read. A form can have ${mostShares} shares; 409 if it has that many.`,
      permission: 'forms:write',
      audit: { fields: ['title', 'kind', 'elements', 'expires_at'] },
      params: idParameter,
      body: ShareChange,
      isBodyOptional: true,
      example: { body: { title: 'Results of the survey', kind: 'summary' } },
      errors: ['conflict'],
      reply: { status: 201, description: 'The share.', schema: Share },
      async run({ params, body, ...scope }) {
        const form = await requireReachableForm(database, scope, params.id);
        requireAnswers(scope);
        const shareable = await listShareable(database, form);
        const given = check(body, shareable);
        const { password_hash } = await hashPasswordChange(body.password);
        const id = newId();
        const inserted = await insertShare(database, {
          workspace_id: form.workspaceId,
          id,
          form_id: form.formId,
          title: given.title ?? (await requireForm(database, form)).name,
          kind: body.kind ?? 'summary',
          elements: given.elements ?? shareable.flatMap((each) => (each.is_personal ? [] : [each.id])),
          expires_at: body.expires_at ? new Date(body.expires_at) : null,
          password_hash,
          now: now(),
          most: mostShares,
        });
        if (inserted.length === 0)
          throw new ApiError('conflict', `A form can have at most ${mostShares} shares. Delete one first.`);
        return show(scope, id);
      },
    }),

    changeShare: operation({
      summary: 'Change share',
      description:
        'Changes a link to results. Omitted properties stay unchanged, and so does the link. Visitors must enter a changed password. Also requires the permission submissions:read.',
      permission: 'forms:write',
      audit: { fields: ['title', 'kind', 'elements', 'expires_at'] },
      params: idParameter,
      body: ShareChange,
      example: { body: { expires_at: '2030-01-31T00:00:00.000Z' } },
      reply: { status: 200, description: 'The share.', schema: Share },
      async run({ params, body, ...scope }) {
        const { form_id: formId } = await find(scope, params.id);
        requireAnswers(scope);
        const { workspaceId } = scope;
        const { title, elements } = check(body, await listShareable(database, { workspaceId, formId }));
        requireRow(
          await updateShare(database, {
            workspace_id: workspaceId,
            id: params.id,
            title: title ?? null,
            kind: body.kind ?? null,
            elements: elements ?? null,
            changes_expiry: body.expires_at !== undefined,
            expires_at: body.expires_at ? new Date(body.expires_at) : null,
            ...(await hashPasswordChange(body.password)),
            now: now(),
          }),
        );
        return show(scope, params.id);
      },
    }),

    deleteShare: operation({
      summary: 'Delete share',
      description: 'Revokes a link to results. It stops working immediately.',
      permission: 'forms:write',
      audit: 'entry',
      params: idParameter,
      isDestructive: true,
      reply: { status: 204, description: 'The link is revoked.' },
      async run({ params, ...scope }) {
        await find(scope, params.id);
        await deleteShare(database, { workspace_id: scope.workspaceId, id: params.id });
      },
    }),
  };
}

/** @throws ApiError forbidden: a caller who shares answers must be allowed to read them. */
function requireAnswers({ may }: Pick<RequestScope, 'may'>): void {
  if (!may('submissions:read'))
    throw new ApiError('forbidden', 'Sharing results also requires the permission submissions:read.');
}

/** Returns the normalized title and elements. @throws ApiError validation_error. */
function check(
  { title: given, elements }: ShareChange,
  shareable: readonly ShareableElement[],
): { title: string | undefined; elements: string[] | undefined } {
  const title = given === undefined ? undefined : trimText(given);
  const errors: ErrorItem[] = (elements ?? []).flatMap((element, index) =>
    shareable.some(({ id }) => id === element)
      ? []
      : [
          {
            field: `elements.${index}`,
            message: 'No question of this form has this ID.',
            code: 'invalid_choice',
          },
        ],
  );
  if (title !== undefined && (title === '' || !isCleanText(title) || /\p{Cc}/u.test(title)))
    errors.push({ field: 'title', message: 'The title must be one line of text that is not blank.' });
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
  return { title, elements: elements && [...new Set(elements)] };
}

/** A share that a link opens. */
export type OpenShare = FormKey &
  Pick<ShareRow, 'id' | 'title' | 'kind' | 'elements'> & { passwordHash: string | null };

/**
 * Returns the share of a link.
 * @throws ApiError not_found for an unknown or revoked link, gone for an expired one.
 */
export async function openShare(
  { database, vault }: { database: Database; vault: Vault },
  token: string,
): Promise<OpenShare> {
  const [formId = '', signature = '', ...rest] = token.split('.');
  if (!uuidPattern.test(formId) || rest.length > 0) throw new ApiError('not_found');
  const rows = await findSharesOfLink(database, { form_id: formId });
  const row = rows.find(({ workspace_id: workspaceId, id }) =>
    verifyLink(vault, 'result links', signature, { workspaceId, formId, id }),
  );
  if (!row) throw new ApiError('not_found');
  if (row.expires_at && row.expires_at <= now()) throw new ApiError('gone');
  const { id, title, kind, elements, password_hash: passwordHash, workspace_id: workspaceId } = row;
  return { workspaceId, formId: row.form_id, id, title, kind, elements, passwordHash };
}

/** The filter of shares. Only these submissions are shown. Spam, the trash and incomplete ones are not. */
export const sharedFilter = { status: 'completed' } as const;

/** Summarizes the chosen questions of a share. */
export async function readSharedSummary(
  database: Database,
  share: OpenShare,
  language: string,
): Promise<Summary> {
  const { version } = await readViewedForm(database, share);
  const filter = await readFormFilter(database, share, sharedFilter);
  return readSummary(database, filter, {
    workspace_id: share.workspaceId,
    form_id: share.formId,
    timeZone: 'UTC',
    sample: 'newest',
    language,
    compared: notCompared,
    version,
    elements: new Set(share.elements),
  });
}
