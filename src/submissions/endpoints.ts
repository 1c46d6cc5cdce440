import { Type } from 'typebox';
import { quote } from '#ast/basics/problems.ts';
import { type Form, languagesOf } from '#ast/form/tree.ts';
import type { FileLinks } from '#files/stored-files.ts';
import { requireReachableForm } from '#forms/form-rows.ts';
import { closureErrors, findClosure, type LiveForms } from '#forms/live-form.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { requireRow, statement } from '#kit/statement.ts';
import { strictObject } from '#kit/validation.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import { extractNamedFiles, findUploadedFiles } from './edited-answers.ts';
import { Submission, submissionEtag, submissionJson } from './present.ts';
import { findSubmission } from './submission-rows.ts';
import { submitAnswers } from './submit.ts';
import { requireStorableReference, type SubmitServices } from './submit-request.ts';
import { describeWait } from './waiting-list.ts';

/** Operation that returns one submission. src/search lists and searches submissions. */
export const getSubmissionEndpoint = ({ database, links }: { database: Database; links: FileLinks }) =>
  operation({
    summary: 'Get submission',
    description: 'Returns a submission. Each request returns fresh links for its files.',
    permission: 'submissions:read',
    audit: 'entry by people',
    params: idParameter,
    query: strictObject({
      include: Type.Optional(Type.Enum(['tags'], { description: 'Additional data to include.' })),
    }),
    reply: { status: 200, description: 'The submission.', schema: Submission },
    async run({ workspaceId, formIds, params, query: { include } }) {
      const row = requireRow(await findSubmission(database, { workspace_id: workspaceId, id: params.id }));
      requireFormAccess(formIds, row.form_id);
      const place = { workspaceId, formId: row.form_id, id: row.id };
      const wait = await describeWait(database, place, row.status);
      const more = { ...wait, ...(include && { tags: row.tags }) };
      return { json: submissionJson(row, links, more), tag: submissionEtag({ ...row, ...wait }) };
    },
  });

/**
 * Operation that creates a submission through the API. The rules of the page apply: its questions, when it is
 * open, and its response limit. Protection against strangers (invitations, a password, spam detection) does
 * not apply to callers who can write submissions.
 */
export const createSubmissionEndpoint = (
  context: SubmitServices & { liveForms: LiveForms; links: FileLinks },
) =>
  operation({
    summary: 'Create submission',
    description:
      'Submits answers to a published form. They are validated as on the form page, and webhooks receive the submission. 403 if the form is not open yet, 409 if it was never published, 410 if it is closed or full. With a waiting list, answers to a full form get the status `waiting` and a `position`.',
    permission: 'submissions:write',
    audit: { none: 'Submissions have their own history.' },
    params: idParameter,
    body: strictObject({
      answers: Type.Unsafe<Record<string, unknown>>(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description: 'Answers by element ID. For files, the IDs that Create file returned.',
          },
        ),
      ),
      reference: Type.Optional(
        Type.Record(Type.String(), Type.String({ maxLength: 8_192 }), {
          maxProperties: 200,
          description: 'The URL parameters of the form page.',
        }),
      ),
      language: Type.Optional(
        Type.String({
          maxLength: 20,
          description: 'The language in which the visitor read the form, as a BCP 47 tag.',
        }),
      ),
    }),
    example: { body: { answers: { message: 'Please call me.' }, reference: { campaign: 'spring' } } },
    errors: ['conflict', 'gone'],
    reply: { status: 201, description: 'The submission.', schema: Submission },
    async run({ workspaceId, params, body: { answers, reference = {}, language } }) {
      const live = await context.liveForms.find(params.id);
      if (live?.workspaceId !== workspaceId) throw new ApiError('not_found');
      const closure = findClosure(live);
      if (closure === 'absent')
        throw new ApiError(
          'conflict',
          'This form has never been published, so it does not accept submissions.',
        );
      if (closure) throw new ApiError(closureErrors[closure][0], closureErrors[closure][1]);
      requireStorableReference(reference);
      requireLanguage(live.form, language);
      const arrived = await findUploadedFiles(context.database, { workspaceId, formId: live.id }, answers);
      const { raw, files, errors } = extractNamedFiles(live.form, answers, { arrived });
      if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
      const result = await submitAnswers(context, { live, raw, files, reference, language });
      if (!result.ok) throw new ApiError('validation_error', undefined, { errors: [...result.errors] });
      const row = requireRow(
        await findSubmission(context.database, { workspace_id: workspaceId, id: result.submission.id }),
      );
      const { position } = result;
      const more = position === undefined ? undefined : { position };
      return { json: submissionJson(row, context.links, more), tag: submissionEtag({ ...row, position }) };
    },
  });

function requireLanguage(form: Form, language: string | undefined): void {
  const languages = languagesOf(form);
  if (language === undefined || languages.includes(language)) return;
  const message =
    languages.length === 0
      ? 'The form does not list any languages. Remove "language".'
      : `The form is available in ${languages.map(quote).join(', ')}.`;
  throw new ApiError('validation_error', undefined, {
    errors: [{ field: 'language', message, code: 'invalid_choice' }],
  });
}

/** Selects the tags of a form's submissions, most used first. */
const listTags = statement('workspace_id form_id limit', 'tag count')`
  select tag, count(*) as count from submissions s cross join unnest(s.tags) as tag
  where s.workspace_id = $workspace_id and s.form_id = $form_id and s.tags <> '{}' and s.trashed_at is null
  group by tag order by count desc, tag limit $limit`;

/** The maximum number of tags that are listed. */
const shownTags = 200;

/** Operation that lists the tags of a form's submissions. Tags are set by changing submissions. */
export const listTagsEndpoint = ({ database }: { database: Database }) =>
  operation({
    summary: 'List tags',
    description: "Returns the tags of the form's submissions, most used first.",
    permission: 'submissions:read',
    params: idParameter,
    reply: {
      status: 200,
      description: 'The tags, each with its number of submissions.',
      schema: Type.Object({ data: Type.Array(Type.Object({ tag: Type.String(), count: Type.Integer() })) }),
    },
    async run({ params, ...scope }) {
      const { workspaceId, formId } = await requireReachableForm(database, scope, params.id);
      const key = { workspace_id: workspaceId, form_id: formId, limit: shownTags };
      return { body: { data: await listTags(database, key) } };
    },
  });
