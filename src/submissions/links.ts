import { now } from '#kit/clock.ts';
import { ApiError } from '#kit/errors.ts';
import { type Queryable, statement, textEnum } from '#kit/statement.ts';
import { hashOfToken, type LinkTarget, signLink, type Vault, verifyLink } from '#kit/vault.ts';

/** Deletes expired links, at most 1,000. @returns the deleted ones; a full batch means that there may be more. */
export const deleteExpiredLinks = statement('now', 'submission_id')`
  /* sweep: across workspaces */
  delete from submission_links where (workspace_id, hash) in (
    select workspace_id, hash from submission_links where expires_at <= $now order by expires_at limit 1000)
  returning submission_id`;

/** What a link allows: resuming saved answers, or editing a submission. */
type LinkPurpose = 'resume' | 'edit';

/**
 * Returns the token of a submission's link. It is the same each time, so a repeated submit and an email get the same link. A link
 * works only while its row is stored and has not expired.
 */
export const signSubmissionLinkToken = (vault: Vault, purpose: LinkPurpose, submission: LinkTarget): string =>
  signLink(vault, `${purpose} links`, submission);

/** Stores a link, or extends an existing one. */
const saveLink = statement(
  ['workspace_id hash form_id submission_id step? expires_at', { purpose: textEnum<LinkPurpose>() }],
  '',
)`
  insert into submission_links (workspace_id, hash, form_id, submission_id, purpose, step, expires_at)
  values ($workspace_id, $hash, $form_id, $submission_id, $purpose, $step, $expires_at)
  on conflict (workspace_id, hash) do update set step = excluded.step, expires_at = excluded.expires_at`;

/**
 * Finds the submission of a link to this form that has not expired. The form in the URL determines the
 * workspace.
 */
const findLink = statement(
  ['form_id hash now', { purpose: textEnum<LinkPurpose>() }],
  'workspace_id submission_id step? expires_at',
)`
  select l.workspace_id, l.submission_id, l.step, l.expires_at
  from form_lookup f
  join submission_links l on l.workspace_id = f.workspace_id and l.hash = $hash and l.form_id = f.form_id
  where f.form_id = $form_id and l.purpose = $purpose and l.expires_at > $now`;

/** The submission that a link opens. */
type Linked = { workspaceId: string; formId: string; submissionId: string };

/**
 * Gives a submission a link that is valid for some days from now. An existing link is extended.
 * @param link `step` is the step where the visitor resumes, counted from 0.
 */
export async function createOrExtendLink(
  db: Queryable,
  vault: Vault,
  { workspaceId, formId, submissionId }: Linked,
  link: { purpose: LinkPurpose; days: number; step?: number },
): Promise<{ token: string; expiresAt: Date }> {
  const token = signSubmissionLinkToken(vault, link.purpose, { workspaceId, formId, id: submissionId });
  const expiresAt = new Date(now().getTime() + link.days * 86_400_000);
  await saveLink(db, {
    workspace_id: workspaceId,
    hash: hashOfToken(token),
    form_id: formId,
    submission_id: submissionId,
    purpose: link.purpose,
    step: link.step ?? null,
    expires_at: expiresAt,
  });
  return { token, expiresAt };
}

/**
 * Returns the submission that a link opens. An expired link, an unknown link and a link to another form cause
 * the same error.
 * @throws ApiError not_found.
 */
export async function openSubmissionLink(
  db: Queryable,
  link: { formId: string; token: string; purpose: LinkPurpose },
): Promise<{ workspaceId: string; submissionId: string; step: number; expiresAt: Date }> {
  const [found] = await findLink(db, {
    form_id: link.formId,
    hash: hashOfToken(link.token),
    purpose: link.purpose,
    now: now(),
  });
  if (!found) throw new ApiError('not_found', 'This link is invalid or has expired.');
  return {
    workspaceId: found.workspace_id,
    submissionId: found.submission_id,
    step: found.step ?? 0,
    expiresAt: found.expires_at,
  };
}

/** How long the link to a PDF works, in seconds. It is signed with its end, and not stored. */
const pdfLinkSeconds = 86_400;

/** Returns the token of a link with which a visitor downloads the PDF of their submission. */
export function signPdfLinkToken(vault: Vault, submission: LinkTarget): string {
  const expires = String(Math.floor(now().getTime() / 1000) + pdfLinkSeconds);
  return `${submission.id}.${expires}.${signLink(vault, 'pdf links', submission, expires)}`;
}

/** Returns the id of the submission that a link opens; undefined if the link is invalid or has expired. */
export function readPdfLink(vault: Vault, form: Omit<LinkTarget, 'id'>, token: string): string | undefined {
  const [, id, expires, signature] = /^([\da-f-]{36})\.(\d{1,12})\.([\w-]+)$/.exec(token) ?? [];
  const isValid =
    id !== undefined &&
    Number(expires) >= now().getTime() / 1000 &&
    verifyLink(vault, 'pdf links', signature!, { ...form, id }, expires!);
  return isValid ? id : undefined;
}
