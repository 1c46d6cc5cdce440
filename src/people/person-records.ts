import { limitConcurrency } from '#kit/concurrency.ts';
import type { Database } from '#kit/database.ts';
import { minimumId, readPageRequest } from '#kit/pagination.ts';
import {
  boolean,
  integer,
  json,
  nullable,
  nullableColumns,
  statement,
  text,
  textEnum,
  timestamp,
  uuid,
} from '#kit/statement.ts';
import { readSubmissions } from '#search/read-submissions.ts';
import { readSearchView } from '#search/view.ts';
import { containsMatch } from '#submissions/erase/strip-answers.ts';
import type { SubmissionStatus } from '#submissions/submission-rows.ts';
import type { PersonSearch } from './person-search.ts';

/** The places in a row where the term may occur, with their contents. */
type SearchedTexts = readonly (readonly [place: string, value: unknown])[];

/** Returns SQL for the entries of a JSON object that may contain the term. */
const eachOf = (json: string): string =>
  `json_each(${json}) where ${json}::text ~* $json_pattern and value::text ~* $json_pattern`;

const formOf = 'left join forms v on v.workspace_id = l.workspace_id and v.id = l.form_id';

const versionOf = `join form_versions v
         on v.workspace_id = l.workspace_id and v.form_id = l.form_id and v.version = l.version`;

/**
 * Builds a statement that searches a table for a term, in windows. A window has at most `limit` rows and
 * `size` bytes, which limits the time and memory of each statement. A row returns only the places where the
 * term may occur. `reached` is the last row of the window and `looked` its number of rows, even if nothing is
 * found. If no row is returned, nothing follows `after`.
 * @param from a table `t` with a condition. @param size the bytes to search in a row. @param form joins the
 * form `v` of a row `l` of the window.
 * @param texts selects `place` and `value` of `l`. @param facts selects the facts of `l`.
 */
const declareRecordSearch = ({
  from,
  size,
  form,
  texts,
  facts,
}: Record<'from' | 'size' | 'form' | 'texts', string> & { facts?: string }) =>
  statement(
    {
      workspace_id: uuid,
      after: uuid,
      limit: integer,
      size: integer,
      ...(texts.includes('$pattern') && { pattern: text }),
      ...(texts.includes('$json_pattern') && { json_pattern: text }),
    },
    [
      'reached looked:bigint',
      nullableColumns({
        id: uuid,
        created_at: timestamp,
        status: nullable(textEnum<SubmissionStatus>()),
        is_trashed: boolean,
        form_id: nullable(uuid),
        form_name: nullable(text),
        texts: json<SearchedTexts>(),
      }),
    ],
  )`
    with sized as (
      select x.*, sum(x.size) over (order by x.id) - x.size as before
        from (select t.*, ${size} as size from ${from} and t.workspace_id = $workspace_id and t.id > $after
               order by t.id limit $limit) x),
    looked as materialized (select * from sized where before < $size)
    select reached.id as reached, reached.looked, hit.*
      from (select id, count(*) over () as looked from looked order by id desc limit 1) reached
      left join (
        select ${facts ?? 'l.id, l.created_at, null::text as status, false as is_trashed'}, l.form_id, v.name as form_name, s.texts
          from looked l ${form}
         cross join lateral (select json_agg(json_build_array(place, value)) as texts from (${texts}) places) s
         where s.texts is not null) hit on true`;

/** Searches all submissions: answers, reference data, tags, notes, and values from before an edit. */
const searchSubmissionRecords = declareRecordSearch({
  from: 'submissions t where true',
  size: `octet_length(t.answers::text) + coalesce((
           select sum(octet_length(c.changes::text)) from submission_changes c
            where c.workspace_id = t.workspace_id and c.submission_id = t.id), 0)`,
  form: versionOf,
  facts: 'l.id, l.created_at, l.status, l.trashed_at is not null as is_trashed',
  texts: `select coalesce(v.fields -> key ->> 'label', key) as place, value from ${eachOf('l.answers')}
         union all
         select 'Reference ' || key, value from ${eachOf('l.reference')}
         union all
         select 'Respondent', l.respondent where l.respondent::text ~* $json_pattern
         union all
         select 'Tags', to_json(tag) from unnest(l.tags) tag where tag ~* $pattern
         union all
         select 'Notes', to_json(n.text) from submission_notes n
          where n.workspace_id = l.workspace_id and n.submission_id = l.id and n.text ~* $pattern
         union all
         select 'History', c.changes from submission_changes c
          where c.workspace_id = l.workspace_id and c.submission_id = l.id and c.changes::text ~* $json_pattern`,
});

/** Searches the answers and reference data of submissions in the spam box. */
const searchSpamRecords = declareRecordSearch({
  from: 'held_submissions t where true',
  size: 'octet_length(t.answers::text)',
  form: versionOf,
  texts: `select coalesce(v.fields -> key ->> 'label', key) as place, value from ${eachOf('l.answers')}
         union all
         select 'Reference ' || key, value from ${eachOf('l.reference')}
         union all
         select 'Respondent', l.respondent where l.respondent::text ~* $json_pattern`,
});

/** Searches invitations: address, name, reference data and prefilled answers. */
const searchInvitationRecords = declareRecordSearch({
  from: 'invitations t where true',
  size: 'octet_length(t.prefill::text)',
  form: formOf,
  texts: `select 'Address' as place, to_json(l.email) as value where l.email ~* $pattern
         union all
         select 'Name', to_json(l.name) where l.name ~* $pattern
         union all
         select 'Reference', l.reference::json where l.reference::text ~* $json_pattern
         union all
         select 'Prefilled answers', l.prefill::json where l.prefill::text ~* $json_pattern`,
});

/**
 * Searches emails by recipient and subject. Private emails between the service and a person are not searched.
 */
const searchMailRecords = declareRecordSearch({
  from: 'mails t where not t.is_private',
  size: 'octet_length(t.subject)',
  form: formOf,
  texts: `select 'Recipient' as place, to_json(l.recipient) as value where l.recipient ~* $pattern
         union all
         select 'Subject', to_json(l.subject) where l.subject ~* $pattern`,
});

/** Searches the events of permanently deleted submissions. `id` is the id of the submission. */
const searchEventRecords = declareRecordSearch({
  from: 'events t where not t.is_test',
  size: 'octet_length(t.snapshot::text)',
  form: formOf,
  facts: 'l.submission_id as id, l.occurred_at as created_at, null::text as status, false as is_trashed',
  texts: `select 'Event' as place, l.snapshot -> 'submission' as value
          where l.snapshot::text ~* $json_pattern
            and not exists (
              select from submissions s where s.workspace_id = l.workspace_id and s.id = l.submission_id)`,
});

/**
 * The kinds of records about a person. An `event` belongs to a deleted submission and has the id of that
 * submission.
 */
export const personRecordKinds = ['submission', 'spam', 'invitation', 'mail', 'event'] as const;
export type PersonRecordKind = (typeof personRecordKinds)[number];

export type PersonRecord = {
  kind: PersonRecordKind;
  id: string;
  /** Null for an email that is not about a form. */
  form_id: string | null;
  form_name: string | null;
  created_at: Date;
  /** Null for records that are not submissions. */
  status: SubmissionStatus | null;
  is_trashed: boolean;
  /** Where the person was found, such as question labels. Empty if the word search found the record. */
  places: string[];
};

/** `exact`: all data with a text that equals the term. `words`: submissions found by the word search. */
export const matchKinds = ['exact', 'words'] as const;
export type MatchKind = (typeof matchKinds)[number];

/** The most records of one person. Rows are read oldest first, so newer ones are missing beyond it. */
export const mostPersonRecords = 10_000;
/** The maximum number of submissions from the word search. */
const searchMost = 1_000;
/** One statement reads at most this many rows and `windowSize` bytes. */
const mostRows = 2_000;
const windowSize = 4 * 1_048_576;
/**
 * A search reads all data of the workspace, which takes many seconds if there is much (docs/privacy.md). Each
 * search occupies one core of the database server.
 */
const twoAtOnce = limitConcurrency(2, {
  seconds: 5,
  why: 'Two searches for people are already running in this workspace.',
});

/**
 * Returns all records about a person, newest first.
 * @throws ApiError bad_request for words that the search rejects; rate_limit_exceeded while two searches run
 * in the workspace.
 */
export async function findPersonRecords(
  database: Database,
  workspaceId: string,
  search: PersonSearch,
  match: MatchKind,
): Promise<{ records: PersonRecord[]; isPartial: boolean }> {
  const found =
    match === 'words'
      ? await searchFor(database, workspaceId, search.q)
      : await twoAtOnce.run(workspaceId, () => searchAllRecords(database, workspaceId, search));
  const records = found.records.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  return { ...found, records };
}

async function searchFor(database: Database, workspaceId: string, q: string) {
  const view = await readSearchView(database, { workspaceId, formIds: null }, q);
  const { rows, total, isPartial } = await readSubmissions(
    database,
    view,
    readPageRequest({ per_page: searchMost }),
  );
  const records = rows.map((row) => toPersonRecord('submission', row, []));
  return { records, isPartial: isPartial === true || total >= searchMost };
}

const searchByKind = {
  submission: searchSubmissionRecords,
  spam: searchSpamRecords,
  invitation: searchInvitationRecords,
  mail: searchMailRecords,
  event: searchEventRecords,
} as const satisfies Record<PersonRecordKind, unknown>;

async function searchAllRecords(
  database: Database,
  workspaceId: string,
  { pattern, json_pattern, isMatch }: PersonSearch,
): Promise<{ records: PersonRecord[]; isPartial: boolean }> {
  const records = new Map<string, PersonRecord>();
  // PostgreSQL also finds the term within longer words, which belong to other people.
  const placesOf = (texts: SearchedTexts): string[] => [
    ...new Set(texts.flatMap(([place, value]) => (containsMatch(value, isMatch) ? [place] : []))),
  ];
  for (const kind of personRecordKinds) {
    let after: string | undefined = minimumId;
    let limit = mostRows;
    while (after !== undefined && records.size <= mostPersonRecords) {
      const window = { after, limit, size: windowSize };
      const parameters = { workspace_id: workspaceId, ...window, pattern, json_pattern };
      const rows: Awaited<ReturnType<typeof searchSubmissionRecords>> = await searchByKind[kind](
        database,
        parameters,
      );
      for (const row of rows) {
        const places = placesOf(row.texts ?? []);
        if (places.length > 0) records.set(`${kind} ${row.id}`, toPersonRecord(kind, row, places));
      }
      after = rows[0]?.reached;
      // If rows are large, a smaller limit avoids repeatedly measuring rows beyond the window.
      limit = Math.min(mostRows, 2 * (rows[0]?.looked ?? 0));
    }
  }
  return {
    records: [...records.values()].slice(0, mostPersonRecords),
    isPartial: records.size > mostPersonRecords,
  };
}

/** The columns that the rows of all windows share. */
type FoundRecordRow = {
  id: string | null;
  form_id: string | null;
  form_name: string | null;
  created_at: Date | null;
  status?: SubmissionStatus | null;
  is_trashed?: boolean | null;
};

const toPersonRecord = (kind: PersonRecordKind, row: FoundRecordRow, places: string[]): PersonRecord => ({
  kind,
  id: row.id!,
  form_id: row.form_id,
  form_name: row.form_name,
  created_at: row.created_at!,
  status: row.status ?? null,
  is_trashed: row.is_trashed ?? false,
  places,
});
