import { Type } from 'typebox';
import { quote } from '#ast/basics/problems.ts';
import { type Form, languagesOf } from '#ast/form/tree.ts';
import type { FileLinks } from '#files/stored-files.ts';
import { closures, findClosure, type LiveForms } from '#forms/live-form.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { columns, nullable, requireRow, statement, text, word } from '#kit/statement.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { findArrived, takeNamedFiles } from './changes/edited-answers.ts';
import { Submission, submissionJson, submissionTag } from './present.ts';
import { requireClean } from './reference.ts';
import type { SubmissionStatus } from './submission-rows.ts';
import { type SubmitContext, submitAnswers } from './submit.ts';

/** The columns of a submission for readers; fields and form_name are those of the version that it answers. */
export const foundColumns = columns(
  'id workspace_id form_id answers:text reference:text fields:text form_name has_files',
  'created_at completed_at?',
  {
    status: word<SubmissionStatus>(),
    /** A BCP-47 tag; null if the form has no languages. */
    language: nullable(text),
  },
);

// PostgreSQL returns JSON as text, which is passed on unparsed: parsing it in Node costs a third of the list
// rate.
export const submissionSelection = `s.id, s.workspace_id, s.form_id, s.status, s.answers::text as answers, s.reference::text as reference, s.language,
  v.fields::text as fields, v.name as form_name, s.has_files, s.created_at, s.completed_at`;

export const findSubmission = statement(
  'find_submission',
  'workspace_id id',
  ['updated_at tags', foundColumns],
  `select ${submissionSelection}, s.updated_at, s.tags
   from submissions s
   join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
   join forms f on f.workspace_id = s.workspace_id and f.id = s.form_id
   where s.workspace_id = $workspace_id and s.id = $id and s.trashed_at is null and f.deleted_at is null`,
);

/**
 * Creates a submission through the API. The rules of the page apply: its questions, when it is open, and its
 * response limit. Protection against strangers (invitations, a password, spam detection) does not apply to
 * callers who may write submissions.
 */
export const submitEndpoint = (context: SubmitContext & { liveForms: LiveForms; links: FileLinks }) =>
  operation({
    summary: 'Create submission',
    description:
      'Submits answers to a published form. They are checked as on its page, and webhooks receive the submission. 403 if the form is not open yet; 409 if it was never published; 410 if it is closed or full.',
    permission: 'submissions:write',
    audit: { none: 'Submissions have a history of their own.' },
    params: idParameter,
    body: Type.Object(
      {
        answers: Type.Unsafe<Record<string, unknown>>(
          Type.Object(
            {},
            {
              additionalProperties: true,
              description: 'Answers by element id; files by the id from Create file.',
            },
          ),
        ),
        reference: Type.Optional(
          Type.Record(Type.String(), Type.String({ maxLength: 8_192 }), {
            maxProperties: 200,
            description: 'Reference data, like the parameters of the public URL.',
          }),
        ),
        language: Type.Optional(
          Type.String({
            maxLength: 20,
            description: 'The form language in which it was read, as a BCP-47 tag.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    example: { body: { answers: { message: 'Please call me.' }, reference: { campaign: 'spring' } } },
    errors: ['conflict', 'gone'],
    reply: { status: 201, description: 'The submission.', schema: Submission },
    async run({ workspaceId, formIds, params, body: { answers, reference = {}, language } }) {
      requireReach(formIds, params.id);
      const live = await context.liveForms.find(params.id);
      if (live?.workspaceId !== workspaceId) throw new ApiError('not_found');
      const closure = findClosure(live);
      if (closure === 'absent')
        throw new ApiError(
          'conflict',
          'This form was never published, so it does not accept submissions. Publish it first.',
        );
      if (closure) throw new ApiError(closures[closure][0], closures[closure][1]);
      requireClean(reference);
      requireLanguage(live.form, language);
      const arrived = await findArrived(context.database, { workspaceId, formId: live.id }, answers);
      const { raw, files, errors } = takeNamedFiles(live.form, answers, { arrived });
      if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
      const result = await submitAnswers(context, { live, raw, files, reference, language });
      if (!result.ok) throw new ApiError('validation_error', undefined, { errors: [...result.errors] });
      const row = requireRow(
        await findSubmission(context.database, { workspace_id: workspaceId, id: result.submission.id }),
      );
      return { json: submissionJson(row, context.links), tag: submissionTag(row) };
    },
  });

function requireLanguage(form: Form, language: string | undefined): void {
  const languages = languagesOf(form);
  if (language === undefined || languages.includes(language)) return;
  const message =
    languages.length === 0
      ? 'The form has no languages. Omit "language".'
      : `"language" must be one of ${languages.map(quote).join(', ')}.`;
  throw new ApiError('validation_error', undefined, {
    errors: [{ field: 'language', message, code: 'invalid_choice' }],
  });
}
