import { type Static, Type } from 'typebox';
import { checkSettings, dropStaleSettings, editDaysOf } from '#ast/settings.ts';
import { findEmailProblems, type ReplyTo, wordSchemas } from '#ast/settings-email.ts';
import { readBuilderForm } from '#forms/draft.ts';
import { readPublicUrl } from '#forms/form-rows.ts';
import { validateFormChange } from '#forms/forms.ts';
import { newId, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation, type RequestScope } from '#kit/operation.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { enqueueMail, type NewMail, oneLine } from '#kit/outbox.ts';
import { namedObject } from '#kit/pagination.ts';
import { onlyRow, statement } from '#kit/statement.ts';
import { orNull, strictObject } from '#kit/validation.ts';
import type { Vault } from '#kit/vault.ts';
import { hasVisitorLink } from '#submissions/submission-record.ts';
import { sampleSubmission } from '#webhooks/samples.ts';
import { findResponsiblePerson } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { limitAttempts } from '#workspaces/sign-in/sign-in.ts';
import { mailNotConfigured } from '../sending/send-mail.ts';
import { renderEmail } from '../sending/template.ts';
import { composeNotification, composeReceipt, type NotifiedSubmission } from './submission-emails.ts';

/** An email of a form in the author's own words, as in its settings. */
const FormEmail = strictObject({
  kind: Type.Enum(['notification', 'receipt']),
  subject: Type.Optional(Type.Unsafe<string>(wordSchemas.subject)),
  message: Type.Optional(Type.Unsafe<string>(wordSchemas.message)),
  reply_to: Type.Optional(Type.Unsafe<ReplyTo>(wordSchemas.reply_to)),
  attach_pdf: Type.Optional(Type.Boolean({ description: 'Ignored: the preview and the test have no PDF.' })),
});

const FormEmailPreview = namedObject('FormEmailPreview', {
  subject: Type.String(),
  reply_to: orNull(Type.String()),
  text: Type.String(),
  html: Type.String(),
});

/** Finds the address of a member, or else of the owner who has been a member for the longest time. */
const findMemberAddress = statement('workspace_id user_id?', 'email')`
  select u.email from members m join users u on u.id = m.user_id and u.ends_at is null
   where m.workspace_id = $workspace_id and (m.user_id = $user_id or m.role = 'owner')
   order by m.user_id = $user_id desc nulls last, m.created_at, m.user_id limit 1`;

/** The number of test emails of a workspace per minute. */
const testsPerMinute = 5;
const dayMs = 86_400_000;
const example = {
  body: { kind: 'receipt' as const, subject: 'Thank you', message: 'We got this:\n\n{{answers}}' },
};

type Context = {
  database: Database;
  vault: Vault;
  config: Pick<Config, 'publicUrl' | 'smtp'>;
  requestCounter: RequestCounter;
  wakeQueue: () => void;
};

/** Operations that show an author how an email of the form will look. */
export function formEmailEndpoints(context: Context) {
  const { database, vault, config } = context;

  /** Composes the email about a sample submission to the working copy. */
  const compose = async (
    { workspaceId }: RequestScope,
    formId: string,
    { kind, attach_pdf: _noPdf, ...words }: Static<typeof FormEmail>,
  ): Promise<Omit<NewMail, 'to'>> => {
    const { draft } = await readBuilderForm(database, workspaceId, formId);
    const { form } = validateFormChange({ structure: draft.structure });
    const errors = findEmailProblems(words, form);
    if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
    const checked = checkSettings(draft.settings, form);
    const settings = dropStaleSettings(form, checked.ok ? checked.settings : {});
    const completed_at = now();
    const sample: NotifiedSubmission = {
      id: newId(),
      form_id: formId,
      form_name: form.attrs.name,
      settings,
      structure: form,
      ...sampleSubmission(form, completed_at.toISOString().slice(0, 10)),
      language: null,
      status: 'completed',
      completed_at,
    };
    const edit = hasVisitorLink(settings) && {
      url: `${await readPublicUrl(database, config, { workspaceId, formId })}/edit/example`,
      until: new Date(completed_at.getTime() + editDaysOf(settings) * dayMs),
    };
    const options = { edit: edit || undefined, words, spoken: settings.locale };
    return kind === 'receipt'
      ? composeReceipt(sample, config.publicUrl, options)
      : composeNotification(sample, config.publicUrl, options);
  };

  return {
    previewFormEmail: operation({
      summary: 'Preview form email',
      description:
        'Returns a notification or receipt with your own words about a sample submission to the working copy. Sends nothing.',
      permission: 'forms:read',
      audit: { none: 'It changes nothing.' },
      command: 'forms preview-email',
      params: idParameter,
      body: FormEmail,
      example,
      reply: { status: 200, description: 'The email.', schema: FormEmailPreview },
      async run({ params, body, ...scope }) {
        const { subject, replyTo = null, letter } = await compose(scope, params.id, body);
        return { body: { subject: oneLine(subject), reply_to: replyTo, ...renderEmail(letter, String) } };
      },
    }),

    testFormEmail: operation({
      summary: 'Send test form email',
      description: `Sends the email of the preview to your own address. For an API key, it goes to the member who created it, or to an owner. Limit: ${testsPerMinute} a minute. 409 if the server sends no email, or if the workspace has no owner.`,
      permission: 'forms:write',
      audit: 'entry',
      command: 'forms test-email',
      params: idParameter,
      body: FormEmail,
      example,
      errors: ['conflict'],
      reply: {
        status: 202,
        description: 'The address that gets the email.',
        schema: Type.Object({ to: Type.String() }),
      },
      async run({ params, body, ...scope }) {
        const { workspaceId } = scope;
        const mail = await compose(scope, params.id, body);
        if (!config.smtp) throw new ApiError('conflict', mailNotConfigured);
        const person = await findResponsiblePerson(database, scope);
        const key = { workspace_id: workspaceId, user_id: person?.id ?? null };
        const to = readMailAddress(onlyRow(await findMemberAddress(database, key))?.email ?? '');
        if (!to) throw new ApiError('conflict', 'This workspace has no owner who can get the test.');
        await limitAttempts(context, `email tests of ${workspaceId}`, testsPerMinute);
        const test = { ...mail, kind: 'test', subject: `Test: ${mail.subject}`, to } as const;
        await enqueueMail(database, vault, { workspaceId, formId: params.id }, test);
        context.wakeQueue();
        return { body: { to: to.address } };
      },
    }),
  };
}
