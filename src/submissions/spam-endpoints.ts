import { type Static, Type } from 'typebox';
import type { Answers } from '#ast/answers/check-answers.ts';
import type { Form } from '#ast/form/tree.ts';
import { effectiveFormColumn, requireReachableForm } from '#forms/form-rows.ts';
import { allowOrigin } from '#forms/settings.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { finishPage, listParameters, listSchemaOf, readPageRequest, upperIdBound } from '#kit/pagination.ts';
import { json, nullable, requireRow, statement, textEnum } from '#kit/statement.ts';
import { strictObject, timestampSchema, uuidSchema } from '#kit/validation.ts';
import type { Permission } from '#rules/permissions.ts';
import { personIdOf } from '#workspaces/authenticate.ts';
import { deleteSpam, releaseSpam, type SpamReason, spamReasons } from './spam.ts';
import type { SubmitServices } from './submit-request.ts';

const SpamPath = Type.Object({ id: uuidSchema, held: uuidSchema });

const ids = Type.Array(uuidSchema, { minItems: 1, maxItems: 100, uniqueItems: true });
const SpamSelection = strictObject({ ids });
const SpamDeletion = strictObject({ ids: Type.Optional(ids), everything: Type.Optional(Type.Literal(true)) });

const row = {
  id: uuidSchema,
  reason: Type.Enum([...spamReasons]),
  answers: Type.Unsafe<Answers>(Type.Object({}, { additionalProperties: true })),
  created_at: timestampSchema,
};

/**
 * A spam submission. Its files have no URL, so that members do not open a suspicious sender's uploads before
 * the submission is released.
 */
const SpamRow = Type.Object(row);
export type SpamRow = Static<typeof SpamRow>;

export const SpamPage = Type.Object({
  ...listSchemaOf(SpamRow).properties,
  sites: Type.Array(Type.Object({ origin: Type.String(), count: Type.Integer() }), {
    description:
      "Sites that the form's settings do not allow, each with the number of spam submissions from its pages.",
  }),
});
export type SpamPage = Static<typeof SpamPage>;

export const SpamDetail = Type.Object({
  ...row,
  reference: Type.Record(Type.String(), Type.String()),
  structure: Type.Unsafe<Form>({
    'x-component': 'Structure',
    description: 'The structure of the answered version.',
  }),
  origin: Type.Union([Type.String(), Type.Null()], {
    description:
      'The site of the page that sent the submission, if that is why it is spam; the string `null` if the browser did not send the site.',
  }),
  others: Type.Integer({ description: 'The number of other spam submissions from the same IP address.' }),
});
export type SpamDetail = Static<typeof SpamDetail>;

/** A site to allow. */
const Site = strictObject({ origin: Type.String({ maxLength: 255 }) });

/** The number of spam submissions that still existed and are now released or deleted. */
const Decided = Type.Object({ count: Type.Integer() });

/** @returns the deleted submissions; a full batch of 500 means that there may be more. */
export const deleteExpiredSpamBatch = statement('before', 'id')`
  /* sweep: across workspaces */
  delete from held_submissions where (workspace_id, id) in (
    select workspace_id, id from held_submissions where created_at < $before order by created_at limit 500)
  returning id`;

/**
 * Selects a page of a form's spam, newest first, with the total in each row. Returns at least one row unless
 * the form is deleted.
 */
const listSpam = statement('workspace_id form_id below_id limit offset', [
  'total id? created_at?',
  { reason: nullable(textEnum<SpamReason>()), answers: nullable(json<Answers>()) },
])`
  select count.total, h.id, h.reason, h.answers, h.created_at
  from forms f
  cross join lateral (
    select count(*) as total from held_submissions c
    where c.workspace_id = f.workspace_id and c.form_id = f.id) count
  left join lateral (
    select p.id, p.reason, p.answers, p.created_at from held_submissions p
    where p.workspace_id = f.workspace_id and p.form_id = f.id and p.id < $below_id
    order by p.id desc limit $limit offset $offset) h on true
  where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
  order by h.id desc`;

/**
 * Selects the sites whose pages sent spam and that the form's settings do not allow, sorted by the number of
 * submissions.
 */
const listSpamSites = statement('workspace_id form_id', 'origin count')`
  select h.origin, count(*) as count from held_submissions h
  where h.workspace_id = $workspace_id and h.form_id = $form_id and h.reason = 'other_site' and h.origin <> 'null'
  group by h.origin order by count desc, h.origin limit 5`;

/** Selects the spam submissions sent from a page of this site, oldest first. */
const listSpamOfSite = statement('workspace_id form_id origin', 'id')`
  select id from held_submissions
  where workspace_id = $workspace_id and form_id = $form_id and reason = 'other_site' and origin = $origin
  order by id`;

/**
 * Selects a spam submission with the version that was answered, and the number of others from the same
 * address.
 */
const findSpam = statement('workspace_id form_id id', [
  'id created_at origin? others:bigint',
  {
    reason: textEnum<SpamReason>(),
    answers: json<Answers>(),
    reference: json<Record<string, string>>(),
    structure: effectiveFormColumn,
  },
])`
  select h.id, h.reason, h.answers, h.reference, h.created_at, v.structure, h.origin,
         (select count(*) from held_submissions o
          where o.workspace_id = h.workspace_id and o.form_id = h.form_id and o.address = h.address and o.id <> h.id) as others
  from held_submissions h
  join form_versions v on v.workspace_id = h.workspace_id and v.form_id = h.form_id and v.version = h.version
  join forms f on f.workspace_id = h.workspace_id and f.id = h.form_id
  where h.workspace_id = $workspace_id and h.form_id = $form_id and h.id = $id and f.deleted_at is null`;

const some = '01a1fde4-6fce-7e1a-a75a-2f8f8cc3c4b1';

/** Operations that list, release and delete a form's spam. */
export function spamEndpoints(context: SubmitServices) {
  const { database } = context;

  return {
    listSpam: operation({
      summary: 'List spam',
      description: 'Returns the spam submissions of a form, newest first. They are deleted after 30 days.',
      permission: 'submissions:read',
      params: idParameter,
      query: strictObject(listParameters),
      reply: { status: 200, description: 'A page of spam submissions.', schema: SpamPage },
      async run({ workspaceId, params, query }) {
        const key = { workspace_id: workspaceId, form_id: params.id };
        const cut = readPageRequest(query, 'spam', params.id);
        const rows = await listSpam(database, {
          ...key,
          below_id: upperIdBound(cut),
          limit: cut.limit,
          offset: cut.offset,
        });
        if (rows.length === 0) throw new ApiError('not_found');
        const submissions = rows.flatMap(({ id, reason, answers, created_at }) =>
          id === null
            ? []
            : [{ id, reason: reason!, answers: answers!, created_at: created_at!.toISOString() }],
        );
        const sites = await listSpamSites(database, key);
        const { rows: data, ends } = finishPage(cut, submissions, cut.total ?? rows[0]!.total);
        return { body: { data: [...data], ...ends, sites } };
      },
    }),

    getSpam: operation({
      summary: 'Get spam',
      description: 'Returns a spam submission with the form version that was answered.',
      permission: 'submissions:read',
      params: SpamPath,
      reply: { status: 200, description: 'The spam submission.', schema: SpamDetail },
      async run({ workspaceId, params }) {
        const key = { workspace_id: workspaceId, form_id: params.id, id: params.held };
        const spam = requireRow(await findSpam(database, key));
        return { body: { ...spam, created_at: spam.created_at.toISOString() } };
      },
    }),

    releaseSpam: operation({
      summary: 'Release spam',
      description:
        'Releases submissions from spam. They keep their time of arrival, and webhooks receive them as new. 409 if the form has reached its response limit; the remaining ones stay in spam.',
      permission: 'submissions:write',
      audit: { none: 'Submissions have their own history.' },
      params: idParameter,
      body: SpamSelection,
      example: { body: { ids: [some] } },
      errors: ['conflict'],
      reply: { status: 200, description: 'The number of released submissions.', schema: Decided },
      async run({ params, body, ...scope }) {
        const form = await requireReachableForm(database, scope, params.id);
        return { body: { count: await releaseSpam(context, form, body.ids) } };
      },
    }),

    deleteSpam: operation({
      summary: 'Delete spam',
      description:
        'Permanently deletes spam submissions and their files: those in `ids`, or `everything`. Webhooks receive no event, because they received none on arrival.',
      permission: 'submissions:write',
      audit: 'entry',
      params: idParameter,
      body: SpamDeletion,
      example: { body: { everything: true } },
      isDestructive: true,
      reply: { status: 200, description: 'The number of deleted submissions.', schema: Decided },
      async run({ params, body: { ids, everything }, ...scope }) {
        if ((ids === undefined) === (everything === undefined))
          throw new ApiError('validation_error', 'Send either "ids" or "everything".');
        const { workspaceId, formId } = await requireReachableForm(database, scope, params.id);
        const row = { workspace_id: workspaceId, form_id: formId, ids: ids ? [...ids] : null };
        return { body: { count: (await deleteSpam(database, row)).length } };
      },
    }),

    allowSite: operation({
      summary: 'Allow site',
      description:
        "Adds the site to the form's settings, and releases the submissions that were marked as spam because the site was not allowed. Also requires the permission forms:write.",
      permission: 'submissions:write',
      audit: { none: 'Submissions have their own history.' },
      params: idParameter,
      body: Site,
      example: { body: { origin: 'https://www.example.com' } },
      errors: ['conflict'],
      reply: { status: 200, description: 'The number of released submissions.', schema: Decided },
      async run({ params, body: { origin }, ...scope }) {
        const form = await requireReachableForm(database, scope, params.id);
        const needed: Permission = 'forms:write';
        if (!scope.may(needed))
          throw new ApiError(
            'forbidden',
            `Allowing a site changes the form's settings, which requires the permission ${needed}.`,
          );
        const userId = personIdOf(scope.actor) ?? undefined;
        await allowOrigin(database, form.workspaceId, form.formId, { origin, userId });
        const key = { workspace_id: form.workspaceId, form_id: form.formId, origin };
        const spam = await listSpamOfSite(database, key);
        const count = await releaseSpam(
          context,
          form,
          spam.map(({ id }) => id),
        );
        return { body: { count } };
      },
    }),
  };
}
