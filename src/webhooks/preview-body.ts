import type { FileLinks } from '#files/stored-files.ts';
import { newId, now } from '#kit/clock.ts';
import type { Config } from '#kit/config.ts';
import { type Queryable, requireRow } from '#kit/statement.ts';
import type { EventKind } from './event.ts';
import { findFormOfEvent, formatBody } from './format-body.ts';
import { chooseForm, readLatestSubmissions, readSample } from './samples.ts';
import { signHidden } from './signature.ts';
import type { Template } from './template.ts';
import { type FormatToCheck, validateFilterAndFormat } from './webhook-problems.ts';

type ToPreview = FormatToCheck & { kind: EventKind; submissionId: string | undefined };

/**
 * Formats the body that a webhook would send for a submission, or for a sample if the form has no completed
 * submission.
 * @param place `formId`: the form of the webhook; null for a webhook of the workspace.
 * @throws ApiError validation_error if the format is not valid; not_found.
 */
export async function previewBody(
  {
    database,
    config,
    links,
  }: { database: Queryable; config: Pick<Config, 'publicUrl'>; links: Pick<FileLinks, 'sign'> },
  place: { workspaceId: string; formId: string | null },
  { kind, submissionId, ...format }: ToPreview,
): Promise<{ body: string; submission_id: string | null }> {
  await validateFilterAndFormat(database, place, null, format);
  const formId = await chooseForm(database, place, { submissionId });
  const key = { workspaceId: place.workspaceId, formId };
  const latest = await readLatestSubmissions(database, key, { id: submissionId ?? null, limit: 1 });
  const found = submissionId === undefined ? latest[0] : requireRow(latest);
  const { submission, ...snapshot } = found ?? (await readSample(database, key));
  const source = { kind, occurredAt: now(), deliveryId: newId(), signLink: signHidden(links) };
  const form = await findFormOfEvent(database, {
    format: format.format,
    workspace_id: key.workspaceId,
    form_id: formId,
    submission_id: submission.id,
  });
  const how = { ...format, template: format.template as Template | null, isTest: false, form };
  const text = JSON.stringify({ ...snapshot, submission });
  const body = formatBody({ ...source, snapshot: text }, { ...how, publicUrl: config.publicUrl });
  return { body, submission_id: found ? submission.id : null };
}
