import type { Static } from 'typebox';
import { effectiveForm } from '#ast/form/effective-form.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, completeErrorItem } from '#kit/errors.ts';
import { asWireValue, attachmentHeader, markJsonText } from '#kit/http.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { createCursorError, finishPage, readPageRequest, upperIdBound } from '#kit/pagination.ts';
import { nullable, statement, textEnum } from '#kit/statement.ts';
import { personIdOf, requireWorkspaceAccess } from '#workspaces/authenticate.ts';
import { readBuilderForm } from './draft.ts';
import { countStoredAnswers } from './dry-run.ts';
import {
  changeFormStatus,
  draftJoin,
  type FormAddresses,
  type FormStatus,
  formColumns,
  formNameSql,
  presentCreated,
  readForm,
  requireForm,
  requireFormSettings,
  type StatusChange,
  submissionCountSql,
} from './form-rows.ts';
import { judgeForm } from './judge-form.ts';
import { convertDocument, copyAsNewForm, duplicateForm, importForm, maxDocumentBytes } from './new-forms.ts';
import { findProviderProblems, requireAllowedSettings } from './settings.ts';
import {
  AnswerCounts,
  ConvertedForm,
  ExportedForm,
  exampleStructure,
  ForeignForm,
  FormDetail,
  type FormOrder,
  FormsOverview,
  FormsOverviewQuery,
  FormToImport,
  FormToValidate,
  ImportedForm,
  Judgement,
  NewFormCopy,
} from './shapes.ts';

const filter = `f.workspace_id = $workspace_id and f.deleted_at is null
     and ($form_ids is null or f.id = any ($form_ids))
     and ($status is null or f.status = $status) and ($label is null or $label = any (f.labels))
     and ($q is null or strpos(lower(${formNameSql}), lower($q)) > 0)`;

/** Lists one page of a workspace's forms with their activity. Ties are sorted newest first. */
const listFormLines = statement(
  [
    'workspace_id form_ids? label? q? below_id limit offset',
    { status: nullable(textEnum<FormStatus>()), sort: textEnum<FormOrder>() },
  ],
  ['submission_count last_submission_at:timestamp? last_activity_at:timestamp', formColumns],
)`
  select f.id, f.workspace_id, ${formNameSql} as name, f.description, f.status, f.labels, f.created_at, f.updated_at,
         f.published_at, counted.submission_count, last.created_at as last_submission_at,
         greatest(f.updated_at, d.saved_at, last.created_at) as last_activity_at
  from forms f
  ${draftJoin}
  cross join lateral (select ${submissionCountSql} as submission_count) counted
  left join lateral (
    select s.created_at from submissions s
    where s.workspace_id = f.workspace_id and s.form_id = f.id and s.trashed_at is null order by s.id desc limit 1) last on true
  where ${filter} and f.id < $below_id
  order by case when $sort = 'activity' then greatest(f.updated_at, d.saved_at, last.created_at) end desc,
           case when $sort = 'name' then lower(${formNameSql}) end,
           case when $sort = 'submissions' then counted.submission_count end desc,
           f.id desc
  limit $limit offset $offset`;

const countFormLines = statement(
  ['workspace_id form_ids? label? q?', { status: nullable(textEnum<FormStatus>()) }],
  'total',
)`
  select count(*) as total from forms f ${draftJoin} where ${filter}`;

const example = { structure: exampleStructure };

/** Operations on whole forms, besides the specification's five. */
export function wholeFormEndpoints({
  database,
  addresses,
}: {
  database: Database;
  addresses: FormAddresses;
}) {
  const become = (
    change: StatusChange,
    words: { summary: string; description: string; errors?: readonly ['conflict'] },
  ) =>
    operation({
      ...words,
      permission: 'forms:write',
      audit: { changes: 'getForm' },
      params: idParameter,
      isConditional: true,
      reply: { status: 200, description: 'The form.', schema: FormDetail },
      async run({ workspaceId, params, unchanged }) {
        await changeFormStatus(database, workspaceId, params.id, change, unchanged);
        return readForm(database, { workspaceId, formId: params.id });
      },
    });

  return {
    listFormActivity: operation({
      summary: 'List forms with their activity',
      description:
        'Returns forms, filtered by part of their name or a label, and sorted. Forms that visitors cannot see are listed under the name of their working copy.',
      permission: 'forms:read',
      query: FormsOverviewQuery,
      reply: { status: 200, description: 'A page of forms.', schema: FormsOverview },
      async run({ workspaceId, formIds, query }) {
        const cut = readPageRequest(query, 'overview');
        const { sort = cut.mark === null ? 'activity' : 'created' } = query;
        if (cut.mark !== null && sort !== 'created')
          throw createCursorError(
            '"cursor" requires sort=created, because other orders can change between pages.',
          );
        const filter = {
          workspace_id: workspaceId,
          form_ids: formIds && [...formIds],
          status: query.status ?? null,
          label: query.label ?? null,
          q: query.q?.trim() || null,
        };
        const [found, total] = await Promise.all([
          listFormLines(database, {
            ...filter,
            sort,
            below_id: upperIdBound(cut),
            limit: cut.limit,
            offset: cut.offset,
          }),
          cut.total ?? countFormLines(database, filter).then(([counted]) => counted!.total),
        ]);
        const { rows, ends } = finishPage(cut, found, total);
        return { body: { data: asWireValue([...rows]), ...ends } };
      },
    }),

    validateForm: operation({
      summary: 'Validate form',
      description:
        'Returns all problems that Create form would report. Warns about barriers for people with disabilities, attribute names that look misspelled, and composites without elements. Whether a short address is free is checked when the form is saved. Stores nothing.',
      permission: 'forms:read',
      audit: { none: 'It changes nothing.' },
      body: FormToValidate,
      example: { body: example },
      reply: {
        status: 200,
        description: 'Problems and warnings. The form is valid if there are no problems.',
        schema: Judgement,
      },
      async run({ body, ...scope }) {
        const { problems, warnings } = await judgeForm(database, scope, body);
        const more = findProviderProblems(scope, body.settings).map(completeErrorItem);
        return { body: { problems: [...problems, ...more], warnings } };
      },
    }),

    unpublishForm: become('unpublish', {
      summary: 'Unpublish form',
      description:
        'Turns a published form into a draft. Visitors see that it is closed. 409 if it is archived.',
      errors: ['conflict'],
    }),
    archiveForm: become('archive', {
      summary: 'Archive form',
      description: 'Archives the form. It accepts no new submissions and keeps the existing ones.',
    }),
    restoreForm: become('restore', {
      summary: 'Restore form',
      description: 'Turns an archived form into a draft. 409 if it is published.',
      errors: ['conflict'],
    }),

    duplicateForm: operation({
      summary: 'Duplicate form',
      description:
        'Creates a draft from this form, with its settings, labels and working copy, and adds "(copy)" to its name. Submissions and webhooks are not copied. If `structure` is sent, it becomes the working copy, complete or not.',
      permission: 'forms:write',
      audit: 'entry',
      params: idParameter,
      body: NewFormCopy,
      isBodyOptional: true,
      example: { body: {} },
      reply: { status: 201, description: 'The new form.', schema: FormDetail },
      async run({ params, body, ...scope }) {
        const { workspaceId } = scope;
        requireWorkspaceAccess(scope.formIds);
        const key = { workspaceId, formId: params.id };
        await requireAllowedSettings(scope, body.settings, () => requireFormSettings(database, key));
        const copy = { ...key, userId: personIdOf(scope.actor) };
        const { structure, settings } = body;
        const { id } = structure
          ? await copyAsNewForm(database, { ...copy, structure, settings })
          : await duplicateForm(database, copy);
        return readForm(database, { workspaceId, formId: id });
      },
    }),

    exportForm: operation({
      summary: 'Export form',
      description:
        'Returns structure and settings for Import form, on this or another instance. They come from the live form, or from the working copy if the form is a draft or was never published.',
      permission: 'forms:read',
      audit: 'entry',
      params: idParameter,
      reply: { status: 200, description: 'The form to import.', schema: ExportedForm },
      async run({ workspaceId, params }) {
        const { form, draft } = await readBuilderForm(database, workspaceId, params.id);
        const isOwn = form.status === 'draft' || form.published_at === null;
        const { structure, settings } = isOwn ? draft : form;
        // Indented, so that people can read and compare it.
        const text = JSON.stringify({ structure, settings }, null, 2);
        return {
          headers: attachmentHeader(form.name, '.json'),
          json: markJsonText<Static<typeof ExportedForm>>(text),
        };
      },
    }),

    convertForm: operation({
      summary: 'Convert form',
      description:
        'Converts a form that Typeform, Formbricks, Tally, Google Forms or SurveyJS exported (`document`), or a form as plain text or CSV (`text`). Returns the form, its problems, and a report of every part that was mapped, changed or left out. Stores nothing: pass the result, or the same body, to Import form.',
      permission: 'forms:read',
      audit: { none: 'It changes nothing.' },
      body: ForeignForm,
      bodyLimit: maxDocumentBytes,
      example: {
        body: { document: { title: 'Order', fields: [{ ref: 'email', type: 'email', title: 'Email' }] } },
      },
      reply: { status: 200, description: 'The form and the report.', schema: ConvertedForm },
      async run({ body, ...scope }) {
        const converted = await convertDocument(scope.workspaceId, body);
        return { body: { ...converted, ...(await judgeForm(database, scope, converted)) } };
      },
    }),

    importForm: operation({
      summary: 'Import form',
      description:
        'Creates a draft from `structure` and `settings` as Export form returns them, or from the `document` of another service or from `text` (see Convert form). The form may be incomplete. Images of the theme that this workspace does not have are left out.',
      permission: 'forms:write',
      audit: 'entry',
      body: FormToImport,
      bodyLimit: maxDocumentBytes,
      example: { body: example },
      reply: { status: 201, description: 'The form.', schema: ImportedForm },
      async run({ body, ...scope }) {
        requireWorkspaceAccess(scope.formIds);
        const { structure, settings, report, report_count } = await readFormToImport(scope.workspaceId, body);
        await requireAllowedSettings(scope, settings, async () => ({}));
        const request = {
          workspaceId: scope.workspaceId,
          structure,
          settings,
          userId: personIdOf(scope.actor),
        };
        const { row, structure: stored, missing } = await importForm(database, request);
        const created = presentCreated(row, stored, addresses);
        return { body: { ...created, left_out: missing, report, report_count } };
      },
    }),

    countAnswers: operation({
      summary: 'Count answers by element',
      description:
        'Returns how many submissions answer each element of the live form. Only the newest 10,000 submissions are counted.',
      permission: 'submissions:read',
      params: idParameter,
      reply: {
        status: 200,
        description: 'The counts, for each element with at least one answer.',
        schema: AnswerCounts,
      },
      async run({ workspaceId, params }) {
        const key = { workspaceId, formId: params.id };
        const { structure } = await requireForm(database, key);
        // The form was validated when it was published.
        const { scanned, counts } = await countStoredAnswers(database, {
          ...key,
          form: effectiveForm(structure),
        });
        return { body: { scanned, counts } };
      },
    }),
  };
}

/** Reads a form that is sent as a Formloom form, as the document of another service, or as text. */
async function readFormToImport(
  workspaceId: string,
  { structure, settings, document, text, source }: Static<typeof FormToImport>,
) {
  const given = [structure, document, text].filter((each) => each !== undefined);
  if (given.length !== 1 || (structure === undefined && settings !== undefined))
    throw new ApiError('validation_error', undefined, {
      errors: [
        {
          field: 'structure',
          message: 'Send either "structure" with "settings", or "document", or "text".',
          code: 'not_allowed',
        },
      ],
    });
  return structure
    ? { structure, settings: settings ?? {}, report: [], report_count: 0 }
    : convertDocument(workspaceId, { document, text, source });
}
