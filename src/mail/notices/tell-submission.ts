import type { Locale } from '#ast/locales.ts';
import { digestModes, editDaysOf, recipientsOf } from '#ast/settings.ts';
import { now } from '#kit/clock.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { enqueueMails, type NewMail } from '#kit/outbox/enqueue-mail.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { linkToken } from '#submissions/links/token.ts';
import { reportNews } from '#workspaces/mail-news.ts';
import type { NewsContext } from '../news-context.ts';
import { nextDigest } from './next-digest.ts';
import { endDigest, findForNotice, holdDigest, insertDigestItem, takeDigest } from './queries.ts';
import { digestOf, notificationOf, type Noticed, receiptAddress, receiptOf } from './submission-letters.ts';

const dayMs = 86_400_000;
/** A digest lists so many; the rest is a click away. */
const digestLength = 20;

/** Tells the form's people, and the visitor who wants a receipt, of a completed submission. */
export async function tellSubmission(
  context: NewsContext,
  client: Queryable,
  workspaceId: string,
  { submissionId, locale }: { submissionId: string; locale?: Locale | undefined },
): Promise<void> {
  const found = only(await findForNotice(client, { workspace_id: workspaceId, id: submissionId }));
  if (!found) return;
  await tellPeople(context, client, workspaceId, found);
  await sendReceipt(context, client, workspaceId, found, locale);
}

async function tellPeople(
  { vault, config }: NewsContext,
  client: Queryable,
  workspaceId: string,
  found: Noticed,
): Promise<void> {
  const { notification_email: people, notification_digest: mode = digestModes[0] } = found.settings;
  if (people === undefined) return;
  const form = { workspace_id: workspaceId, form_id: found.form_id };
  if (mode === 'each') {
    const mail = notificationOf(found, config.publicUrl);
    await enqueueMails(client, vault, { workspaceId, formId: found.form_id }, toEach(people, mail));
    return;
  }
  const digest = only(await holdDigest(client, { ...form, mode }));
  await insertDigestItem(client, { ...form, submission_id: found.id });
  if (!digest?.is_new) return;
  const at = now();
  const due = nextDigest(at, mode, found.settings.time_zone);
  const news = { kind: 'digest_due', formId: found.form_id } as const;
  await reportNews(client, workspaceId, news, (due.getTime() - at.getTime()) / 1_000);
}

/** The digest that is due, about what is there by now. */
export async function tellDigest(
  { vault, config }: NewsContext,
  client: Queryable,
  workspaceId: string,
  { formId }: { formId: string },
): Promise<void> {
  const form = { workspace_id: workspaceId, form_id: formId };
  await endDigest(client, form);
  const [first, ...rest] = await takeDigest(client, { ...form, limit: digestLength });
  const people = first?.settings.notification_email;
  if (!first || people === undefined) return;
  const mail = digestOf([first, ...rest], first.total, config.publicUrl);
  await enqueueMails(client, vault, { workspaceId, formId }, toEach(people, mail));
}

async function sendReceipt(
  { vault, config }: NewsContext,
  client: Queryable,
  workspaceId: string,
  found: Noticed,
  locale: Locale | undefined,
): Promise<void> {
  const answer = receiptAddress(found);
  const to = answer === undefined ? undefined : readMailAddress(answer);
  if (!to) return;
  const edit = found.settings.editing
    ? {
        url: `${config.publicUrl}/f/${found.form_id}/edit/${linkToken(vault, 'edit', found.id)}`,
        until: new Date(found.completed_at.getTime() + editDaysOf(found.settings) * dayMs),
      }
    : undefined;
  const mail = { ...receiptOf(found, edit, locale ?? found.settings.locale), to };
  await enqueueMails(client, vault, { workspaceId, formId: found.form_id }, [mail]);
}

/** One mail for each address, so that none is shown to the others. */
const toEach = (people: string, mail: Omit<NewMail, 'to'>): NewMail[] =>
  recipientsOf(people).flatMap((address) => {
    const to = readMailAddress(address);
    return to ? [{ ...mail, to }] : [];
  });
