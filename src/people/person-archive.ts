import type { Readable } from 'node:stream';
import type { Answers } from '#ast/answers/check-answers.ts';
import { type FileServices, storageKey } from '#files/stored-files.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { type TarWriter, tarStream } from '#kit/archives.ts';
import { now } from '#kit/clock.ts';
import { json, onlyRow, statement } from '#kit/statement.ts';
import { listAnswerFields } from '#mail/notices/answer-texts.ts';
import { english } from '#mail/words/words.ts';
import type { PersonRecord, PersonRecordKind } from './person-records.ts';

// Archive of a person ---------------------------------------------------------------------------------------

/** Finds a submission with all its data, for the archive. */
const findSubmissionToExport = statement('workspace_id id', {
  facts: json<object>(),
  structure: effectiveFormColumn,
  answers: json<Answers>(),
})`
  select
    json_build_object(
      'id', s.id, 'form_id', s.form_id, 'form_name', v.name, 'status', s.status, 'created_at', s.created_at,
      'updated_at', s.updated_at, 'completed_at', s.completed_at, 'trashed_at', s.trashed_at, 'language', s.language,
      'answers', s.answers, 'fields', v.fields, 'reference', s.reference, 'respondent', s.respondent, 'tags', s.tags,
      'notes', (select coalesce(json_agg(json_build_object('text', n.text, 'created_at', n.created_at) order by n.id), '[]')
                from submission_notes n where n.workspace_id = s.workspace_id and n.submission_id = s.id),
      'history', (select coalesce(json_agg(json_build_object('kind', c.kind, 'changed_at', c.changed_at,
                    'through', c.through, 'changes', c.changes) order by c.id), '[]')
                  from submission_changes c where c.workspace_id = s.workspace_id and c.submission_id = s.id),
      'deliveries', (select coalesce(json_agg(json_build_object('event', d.kind, 'to', w.url, 'status', d.status,
                       'created_at', d.created_at, 'attempts', d.attempts) order by d.id), '[]')
                     from events e
                     join deliveries d on d.workspace_id = e.workspace_id and d.event_id = e.id
                     join webhooks w on w.workspace_id = d.workspace_id and w.id = d.webhook_id
                     where e.workspace_id = s.workspace_id and e.submission_id = s.id),
      'mails', (select coalesce(json_agg(json_build_object('kind', m.kind, 'recipient', m.recipient,
                  'subject', m.subject, 'state', m.state, 'created_at', m.created_at) order by m.id), '[]')
                from mails m
                where m.workspace_id = s.workspace_id and m.submission_ids <> '{}' and m.submission_ids @> array[s.id])
    ) as facts,
    v.structure, s.answers
  from submissions s
  join form_versions v on v.workspace_id = s.workspace_id and v.form_id = s.form_id and v.version = s.version
  where s.workspace_id = $workspace_id and s.id = $id`;

const findSpamToExport = statement('workspace_id id', {
  facts: json<object>(),
  structure: effectiveFormColumn,
  answers: json<Answers>(),
})`
  select
    json_build_object('id', h.id, 'form_id', h.form_id, 'form_name', v.name, 'reason', h.reason, 'created_at', h.created_at,
      'answers', h.answers, 'fields', v.fields, 'reference', h.reference, 'respondent', h.respondent) as facts,
    v.structure, h.answers
  from held_submissions h
  join form_versions v on v.workspace_id = h.workspace_id and v.form_id = h.form_id and v.version = h.version
  where h.workspace_id = $workspace_id and h.id = $id`;

const findInvitationToExport = statement('workspace_id id', {
  facts: json<object>(),
})`
  select json_build_object('id', i.id, 'form_id', i.form_id, 'form_name', f.name, 'email', i.email, 'name', i.name,
    'reference', i.reference, 'prefill', i.prefill, 'created_at', i.created_at, 'sent_at', i.sent_at,
    'opened_at', i.opened_at, 'started_at', i.started_at, 'revoked_at', i.revoked_at, 'reminders', i.reminders) as facts
  from invitations i join forms f on f.workspace_id = i.workspace_id and f.id = i.form_id
  where i.workspace_id = $workspace_id and i.id = $id`;

/** Finds an email, for the archive. The content of sent emails is not stored. */
const findMailToExport = statement('workspace_id id', { facts: json<object>() })`
  select json_build_object('id', id, 'form_id', form_id, 'kind', kind, 'recipient', recipient, 'subject', subject,
    'state', state, 'created_at', created_at, 'settled_at', settled_at) as facts
  from mails where workspace_id = $workspace_id and id = $id`;

/** Finds the events of a permanently deleted submission, for the archive. */
const findEventsToExport = statement('workspace_id id', {
  facts: json<object>(),
})`
  select json_build_object('submission_id', $id, 'events', json_agg(json_build_object('event', kind,
    'occurred_at', occurred_at, 'told', snapshot) order by id)) as facts
  from events where workspace_id = $workspace_id and submission_id = $id having count(*) > 0`;

/** Lists the files of a submission, including one in the spam box. */
const listFilesToExport = statement('workspace_id id', 'id filename size')`
  select id, filename, size from files
  where workspace_id = $workspace_id and (submission_id = $id or held_id = $id) order by id`;

/**
 * Streams the data of a person as an archive: the facts of each record as JSON, answers also as readable
 * text, and files. Records that were deleted in the meantime are missing, but `contents.json` still lists
 * them.
 */
export const streamPersonArchive = (
  context: FileServices,
  workspaceId: string,
  records: readonly PersonRecord[],
): Readable =>
  tarStream(async (tar) => {
    await tar.addText(
      'contents.json',
      asJson({
        made_at: now(),
        found: records.map(({ places, ...record }) => ({ ...record, found_in: places })),
      }),
    );
    for (const { kind, id } of records)
      await recordExporters[kind](context, tar, { workspace_id: workspaceId, id });
  });

type Key = { workspace_id: string; id: string };
type RecordExporter = (context: FileServices, tar: TarWriter, key: Key) => Promise<void>;

const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** @param find returns the facts and the answers. */
const exportAnswers =
  (folder: string, find: typeof findSubmissionToExport | typeof findSpamToExport): RecordExporter =>
  async (context, tar, key) => {
    const found = onlyRow(await find(context.database, key));
    if (!found) return;
    await tar.addText(`${folder}/${key.id}.json`, asJson(found.facts));
    const fields = listAnswerFields(found.structure, found.answers, { locale: 'en', words: english });
    const lines = fields.map(
      (field) =>
        `${field.label}\n  ${'files' in field ? field.files.map(({ filename }) => filename).join(', ') : field.value.replaceAll('\n', '\n  ')}\n`,
    );
    await tar.addText(`${folder}/${key.id}.txt`, lines.join('\n'));
    for (const { id, filename, size } of await listFilesToExport(context.database, key)) {
      const stream = await context.storage.open(storageKey(key.workspace_id, id));
      if (stream) await tar.add(`files/${key.id}/${id}-${filename}`, size, stream);
    }
  };

const exportFacts =
  (
    folder: string,
    find: (db: FileServices['database'], key: Key) => Promise<{ facts: object }[]>,
  ): RecordExporter =>
  async ({ database }, tar, key) => {
    const found = onlyRow(await find(database, key));
    if (found) await tar.addText(`${folder}/${key.id}.json`, asJson(found.facts));
  };

const recordExporters: Readonly<Record<PersonRecordKind, RecordExporter>> = {
  submission: exportAnswers('submissions', findSubmissionToExport),
  spam: exportAnswers('spam', findSpamToExport),
  invitation: exportFacts('invitations', findInvitationToExport),
  mail: exportFacts('mails', findMailToExport),
  event: exportFacts('events', findEventsToExport),
};
