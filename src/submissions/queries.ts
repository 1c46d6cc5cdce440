import { connectionNumber } from '#kit/database.ts';
import { mostPerPage } from '#kit/pagination.ts';
import { columns, integer, nullable, orNothing, statement, text, word } from '#kit/statement.ts';

/** Specification, "Submission status". */
export type SubmissionStatus = 'completed' | 'incomplete';
export const submissionStatuses = ['completed', 'incomplete'] as const satisfies SubmissionStatus[];

/**
 * How many rows a form's count may be spread over: one row would serialise its submits, each of which holds it until its commit is
 * on the disk, or on a standby. Each connection has a row of its own, so a form has as many as there are connections that write to
 * it at the same time. Only the sum over the slots means anything.
 */
const countSlots = 64;
/** The slot of the connection that asks; that of its process where a session has no number. */
const ownSlot = `(coalesce(nullif(current_setting('${connectionNumber}', true), '')::integer, pg_backend_pid()) % ${countSlots})::smallint`;

/**
 * How many documents a segment of the search index holds before the next is opened (docs/decisions/0021). A look into
 * a segment costs 6 µs, and a word that all of its documents have at most 10 ms.
 */
export const segmentDocuments = 16_384;

/** What begins marks of the search index that are no words: no language begins so, and no code of a segment goes on so. */
export const searchMarks = { incomplete: '-', tag: '#' } as const;

/**
 * What a submission is found by, behind the code of its id's segment: a mark for its form; one where it is incomplete, and one
 * for each of its tags (`searchMarks`); each stemmed word behind its language and a space; and behind a ! the words of the
 * subject once more. For statements with the parameters workspace_id, id, form_id, language, subject and body.
 */
const termsOf = (status: string, tagMarks = ''): string => `(
  select array_to_tsvector(
    array[segment.code || 'f' || $form_id]
    || case when ${status} = 'incomplete' then array[segment.code || '${searchMarks.incomplete}'] end
    ${tagMarks}
    || ${marked('segment.subject || segment.body', ' ')}
    || ${marked('segment.subject', '!')})
  from (
    select g.code, to_tsvector($language::regconfig, $subject) as subject, to_tsvector($language::regconfig, $body) as body
    from search_segments g where g.workspace_id = $workspace_id and g.first_id <= $id
    order by g.first_id desc limit 1) segment)`;

/** The same where there is a row `submission` with its status and tags. */
export const searchTerms = termsOf(
  'submission.status',
  `|| array(select segment.code || '${searchMarks.tag}' || tag from unnest(submission.tags) as tag)`,
);

/** The search documents of the rows of `submission`, as `words`, to be inserted. */
export const searchWords = (condition = ''): string =>
  `words as materialized (select workspace_id, id, form_id, ${searchTerms} as terms from submission ${condition})`;

/** The words of a tsvector, each behind its mark. By way of one text: that costs a tenth of a row for each word. */
function marked(words: string, sign: ' ' | '!'): string {
  const mark = `segment.code || left($language, 3) || '${sign}'`;
  return `string_to_array(${mark} || array_to_string(tsvector_to_array(${words}), chr(1) || ${mark}), chr(1))`;
}

const insertedSubmission = columns(
  'workspace_id id form_id version answers:jsonText reference:jsonText has_files created_at',
  'completed_at? language subject body',
  {
    /** The version that has to be live, since what is submitted was held to its limits; null: any. */
    live_version: nullable(integer),
    status: word<SubmissionStatus>(),
    /** The language of the form that was read, as a BCP-47 tag; `language` is how its words are stemmed. */
    spoken: nullable(text),
  },
);

/**
 * What is inserted is asked for by its parameters, not read from the row again, and no tags are looked for that a new row has not:
 * PostgreSQL works a twentieth less.
 * @param keyed what an insert under a key has more: columns, their values, and what happens when the key is taken.
 */
const insertText = ({ columns, values, conflict } = { columns: '', values: '', conflict: '' }): string =>
  `with live as materialized (select live_version_in_turn($workspace_id, $form_id) as version, ${ownSlot} as slot),
   submission as (
     insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, language, created_at, updated_at, completed_at${columns})
     select $workspace_id, $id, $form_id, $version, $status, $answers, $reference, $has_files, $spoken, $created_at, $created_at, $completed_at${values}
     from live
     where live.version = coalesce($live_version, live.version)
     ${conflict}
     returning id),
   counted as (
     insert into submission_counts (workspace_id, form_id, status, slot, count)
     select $workspace_id, $form_id, $status, live.slot, 1 from submission cross join live
     on conflict (workspace_id, form_id, status, slot) do update set count = submission_counts.count + 1),
   words as materialized (select ${termsOf('$status')} as terms from submission),
   document as (
     insert into search_documents (workspace_id, submission_id, form_id, terms)
     select $workspace_id, $id, $form_id, terms from words)
   select id from submission`;

/**
 * A submission, its count and its search document in one statement, so that without files and webhooks a submit is
 * one round trip and one commit. It joins the form's turn. No row: the form was deleted, or published anew, since it was
 * found, which a slow upload takes minutes to.
 */
export const insertSubmission = statement('insert_submission', insertedSubmission, 'id', insertText());

/**
 * The same under a key, which is taken once: of many at the same time one is inserted, and the others wait for its
 * commit. No row: the key is taken, or the form was deleted or published anew.
 */
export const insertKeyedSubmission = statement(
  'insert_keyed_submission',
  ['key:uuid key_digest?', insertedSubmission],
  'id',
  insertText({
    columns: ', key, key_digest',
    values: ', $key, $key_digest',
    conflict: 'on conflict (workspace_id, key) where key is not null do nothing',
  }),
);

/** Opens the next segment of the search index, from that id on, where the newest is full. */
export const openNextSegment = statement(
  'open_next_segment',
  'workspace_id first_id',
  '',
  `insert into search_segments (workspace_id, first_id)
   select $workspace_id, $first_id
   where ${segmentDocuments} = (
     select count(*) from (
       select from search_documents d
       where d.workspace_id = $workspace_id and d.submission_id >= (
         select g.first_id from search_segments g where g.workspace_id = $workspace_id
         order by g.first_id desc limit 1)
       limit ${segmentDocuments}) full_segment)
   on conflict do nothing`,
);

/** What came under a key before: a submission, completed or not yet, or one that is held in the spam box. */
export const findByKey = statement(
  'find_by_key',
  'workspace_id form_id key:uuid',
  'id version key_digest? completed_at? is_held:boolean',
  `select id, version, key_digest, completed_at, false as is_held from submissions
   where workspace_id = $workspace_id and form_id = $form_id and key = $key
   union all
   select id, version, key_digest, created_at, true from held_submissions
   where workspace_id = $workspace_id and form_id = $form_id and key = $key
   limit 1`,
);

/** Lets one submit of this form pass at a time, until its transaction ends: for forms that take so many of something. */
export const lockFormForSubmit = statement(
  'lock_form_for_submit',
  'form_id',
  '',
  `select from pg_advisory_xact_lock(hashtextextended($form_id::text, 0))`,
);

/** A statement of its own, after the lock: a statement sees what was committed before it began, not while it waited. */
export const countCompleted = statement(
  'count_completed',
  'workspace_id form_id',
  'completed',
  `select coalesce(sum(count), 0)::bigint as completed from submission_counts
   where workspace_id = $workspace_id and form_id = $form_id and status = 'completed'`,
);

/** A submission as a reader sees it; what is pinned (fields, form_name) comes from the version that it answered. */
export const foundColumns = columns(
  'id workspace_id form_id answers:text reference:text fields:text form_name has_files',
  'created_at completed_at?',
  {
    status: word<SubmissionStatus>(),
    /** BCP-47; null where the form names no languages. */
    language: nullable(text),
  },
);

// JSON leaves PostgreSQL as text and is passed on as it is: parsing it in Node costs a third of the list rate.
export const submissionSelection = `s.id, s.workspace_id, s.form_id, s.status, s.answers::text as answers, s.reference::text as reference, s.language,
  v.fields::text as fields, v.name as form_name, s.has_files, s.created_at, s.completed_at`;

/**
 * The version that each submission `s` of a page answered, as `v`. It is looked up by its whole key: a plan that is made
 * for pages of any length may join all versions of the workspace instead (measured: 0.75 ms for 1,050 of them, not 0.2).
 */
export const answeredVersion = `lateral (
       select fields, name from form_versions
       where workspace_id = s.workspace_id and form_id = s.form_id and version = s.version limit 1) v`;

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
 * One page of a form's submissions, newest first, with the exact total in each row. A form without rows on this
 * page gives one row without a submission; an absent form gives none. The page is cut on the index alone, so that
 * a deep page reads no skipped row, and from the end that is nearer: the total says where a page begins from there.
 * Its submissions are looked up one by one: PostgreSQL takes a tenth of all for what a page of any length has, and else
 * reads every submission of the table for it (measured: 33 ms of 26,000 short ones, not 0.2).
 *
 * How long the page is stands in selects of their own, and the longest beside: a plan that knew it would always seem cheaper
 * than the one for all.
 */
const listStatement = (name: string, statusCondition: string) => {
  const listed = `select p.id from submissions p
       where p.workspace_id = f.workspace_id and p.form_id = f.id and p.trashed_at is null ${statusCondition}`;
  return statement(
    name,
    ['workspace_id form_id limit offset', { status: nullable(word<SubmissionStatus>()) }],
    ['total', orNothing(foundColumns)],
    `select count.total, ${submissionSelection}
     from forms f
     cross join lateral (
       select coalesce(sum(c.count), 0)::bigint as total from submission_counts c
       where c.workspace_id = f.workspace_id and c.form_id = f.id and ($status is null or c.status = $status)) count
     left join lateral (
       select id from (
         (${listed} and $offset <= count.total / 2
          order by p.id desc limit (select $limit) offset (select $offset))
         union all
         (${listed} and $offset > count.total / 2
          order by p.id limit (select least($limit, greatest(0, count.total - $offset)))
          offset (select greatest(0, count.total - $offset - $limit)))) ids
        limit ${mostPerPage + 1}) page on true
     left join lateral (
       select * from submissions where workspace_id = f.workspace_id and id = page.id limit 1) s on true
     left join ${answeredVersion} on true
     where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null
     order by s.id desc`,
  );
};

export const listSubmissions = listStatement('list_submissions', '');
export const listSubmissionsByStatus = listStatement('list_submissions_by_status', 'and p.status = $status');

/**
 * Removes submissions and with them their search documents; their files become orphans, which the sweep removes.
 * @returns by status, how many of them counted: those in the trash had left the counts already.
 */
export const deleteSubmissions = statement(
  'delete_submissions',
  'workspace_id ids',
  ['form_id count', { status: word<SubmissionStatus>() }],
  `with gone as (
     delete from submissions where workspace_id = $workspace_id and id = any ($ids) returning form_id, status, trashed_at)
   select form_id, status, count(*) as count from gone where trashed_at is null group by form_id, status`,
);

/** Adds to a form's count, or takes off it. */
export const addToCount = statement(
  'add_to_count',
  ['workspace_id form_id change:bigint', { status: word<SubmissionStatus>() }],
  '',
  `with own as materialized (select ${ownSlot} as slot)
   insert into submission_counts (workspace_id, form_id, status, slot, count)
   select $workspace_id, $form_id, $status, slot, $change from own
   on conflict (workspace_id, form_id, status, slot) do update set count = submission_counts.count + excluded.count`,
);

/** What still holds a deleted form back: deliveries that wait, and files that the sweep has not removed. */
export const findFormRemainder = statement(
  'find_form_remainder',
  'workspace_id form_id',
  'has_deliveries:boolean has_files',
  `select exists (select from deliveries d where d.workspace_id = $workspace_id and d.form_id = $form_id and d.status = 'Retrying') as has_deliveries,
          exists (select from files f where f.workspace_id = $workspace_id and f.form_id = $form_id) as has_files`,
);
