import type { Form } from '#ast/form/tree.ts';
import { searchableText } from '#ast/searchable.ts';
import { leastIdAtSql, timeOfId } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { searchRules } from '#rules/search-rules.ts';
import { indexSubmission } from '#submissions/search-text/document.ts';
import { documentsPerSegment, searchTermsSql } from '#submissions/submission-record.ts';

/** Words that appear in one of `oneIn` submissions and nowhere else. */
export const markerWords = {
  rare: { word: 'xylograph', oneIn: 12_500 },
  medium: { word: 'harpsichord', oneIn: 100 },
  frequent: { word: 'orchard', oneIn: 10 },
  common: { word: 'gathering', oneIn: 5 / 3 },
} as const;
/** A tag on every 50th submission. */
export const markerTag = { tag: 'followed', oneIn: 50 } as const;
/** Appears in every submission of the oldest tenth, and in no later one. */
export const oldWord = 'zeppelin';

type Answers = Record<string, string | number | boolean>;
export type SeededSubmission = { id: string; answers: Answers };

const field = (type: string, id: string, attrs: object = {}): object => ({
  type,
  attrs: { id, label: `Your ${id}`, ...attrs },
  children: [],
});

/** A typical form of nine fields. */
export const structure = {
  type: 'form',
  attrs: { name: 'Contact us', description: 'We answer within two days.' },
  children: [
    {
      type: 'step',
      attrs: { title: 'About you', layout: 'stack' },
      children: [
        field('text', 'subject', { required: true }),
        field('email', 'email', { required: true }),
        field('phone', 'phone'),
        field('dropdown', 'topic', { options: ['Sales', 'Support', 'Press', 'Something else'] }),
        field('number', 'people'),
        field('date', 'day'),
        field('yes_no', 'newsletter'),
        field('textarea', 'message', { required: true }),
        field('file_upload', 'attachment'),
      ],
    },
  ],
};

/** mulberry32: returns numbers from 0 to 1, equal for equal seeds on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const syllables = 'ba cor del fan gri hol jun kel lum mor nav pel quin ros sul tam'.split(' ');
const vocabularySize = 60_000;
/**
 * Returns the word of a rank, the most frequent first, with four syllables. About 8 of every `rank`
 * submissions contain it.
 */
export const wordOf = (rank: number): string =>
  [12, 8, 4, 0].map((shift) => syllables[(rank >> shift) % syllables.length]).join('');

/**
 * Returns the submission at a position of its workspace: about 1 KB, equal on every machine. Words follow
 * Zipf's law. Ids are UUIDv7 of past seconds, so that submissions of the benchmark are newer.
 * @param site distinguishes the submissions of workspaces; below 100.
 * @param count the number of submissions in the workspace.
 */
export function submissionAt(
  index: number,
  { site, count }: { site: number; count: number },
): SeededSubmission {
  const random = randomFrom(site * 10_000_000 + index);
  const words = (length: number): string =>
    Array.from({ length }, () => wordOf(Math.floor(vocabularySize ** random()) - 1)).join(' ');
  const marks = Object.values(markerWords)
    .map(({ word, oneIn }) => (random() * oneIn < 1 ? ` ${word}` : ''))
    .join('');
  const isOld = index < count / 10;
  return {
    id: idOf((Date.UTC(2024, 0, 1) / 1_000 + index) * 1_000, site),
    answers: {
      subject: words(4) + (random() < 0.06 ? ` ${markerWords.common.word}` : ''),
      email: `person${index}@example.com`,
      phone: `+49 30 ${1_000_000 + Math.floor(random() * 9_000_000)}`,
      topic: ['Sales', 'Support', 'Press', 'Something else'][Math.floor(random() * 4)]!,
      people: Math.floor(random() * 100),
      day: '2025-06-15',
      newsletter: random() < 0.5,
      message: words(85) + marks + (isOld ? ` ${oldWord}` : ''),
    },
  };
}

function idOf(milliseconds: number, site: number): string {
  const time = milliseconds.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(site).padStart(12, '0')}`;
}

const rowsAtOnce = 1_000;

/** The service's own search document, with columns of the source instead of its parameters. */
const terms = searchTermsSql
  .replaceAll('$language', "'english'")
  .replaceAll(/\$(workspace_id|id|form_id)/g, 'submission.$1')
  .replaceAll(/\$(subject|body)(_folded|_terms)?\b/g, (_, field, part = '') =>
    part === '_terms' ? `string_to_array(source.${field}_terms, chr(1))` : `source.${field}${part}`,
  );

/** Where the submissions go: half of them to the first form, the rest to the other forms in turn. */
export type SeedPlan = { workspaceId: string; formIds: readonly string[]; site: number; count: number };

export const formIndexOf = (index: number, forms: number): number =>
  index % 2 === 0 ? 0 : 1 + ((index >> 1) % (forms - 1));

/**
 * Above a million, only so many submissions have texts of their own, and the others repeat them: one takes 0.3
 * ms to generate and 0.1 ms to copy.
 */
const ownTexts = 16 * documentsPerSegment;

/**
 * Writes a workspace's submissions as the service does, a thousand at a time over two connections. A large
 * number is indexed after all are written, as a restore of a backup does.
 */
export async function seed(database: Database, plan: SeedPlan): Promise<void> {
  await database.query(
    `insert into search_segments (workspace_id, first_id, rules)
     select $1, unnest($2::uuid[]), ${searchRules} on conflict do nothing`,
    [
      plan.workspaceId,
      Array.from(
        { length: Math.floor((plan.count - 1) / documentsPerSegment) },
        (_, index) => submissionAt((index + 1) * documentsPerSegment, plan).id,
      ),
    ],
  );
  const indexAtOnce = plan.count >= 50_000;
  if (indexAtOnce) await database.query('drop index search_documents_terms');
  const generated = plan.count > 1_000_000 ? ownTexts : plan.count;
  let next = 0;
  const writeAll = async (): Promise<void> => {
    while (next < generated) {
      const first = next;
      next += rowsAtOnce;
      await writeBatch(database, plan, first, Math.min(generated, next));
    }
  };
  await Promise.all([writeAll(), writeAll()]);
  for (let first = generated; first < plan.count; first += documentsPerSegment)
    await copySegment(database, plan, first);
  if (indexAtOnce)
    await database.query(
      `set maintenance_work_mem = '${plan.count > 1_000_000 ? '3GB' : '512MB'}';
       create index search_documents_terms on search_documents using gin (terms) with (fastupdate = on, gin_pending_list_limit = 65536)`,
    );
  await database.query(
    `insert into submission_counts (workspace_id, form_id, status, slot, count)
     select workspace_id, form_id, status, 0, count(*) from submissions where workspace_id = $1
      group by workspace_id, form_id, status`,
    [plan.workspaceId],
  );
}

/** Writes the segment that starts at a position, with the texts of a generated one. */
async function copySegment(database: Database, plan: SeedPlan, first: number): Promise<void> {
  const from = first % ownTexts;
  const idAt = (index: number): string => submissionAt(index, plan).id;
  await transaction(database, async (client) => {
    // Skips the checks of foreign keys, which take as long as the copy.
    await client.query('set local session_replication_role = replica');
    await client.query(
      `with segment as materialized (
         select ${codeOf('$2')} as old_code, ${codeOf('$4')} as code),
       source as materialized (
         select s.*, terms, old_code, code, at, overlay(${leastIdAtSql('at')}::text placing substr(s.id::text, 14) from 14)::uuid as copy
         from submissions s
         join search_documents d on d.workspace_id = s.workspace_id and d.submission_id = s.id
         cross join segment
         cross join lateral (select s.created_at + $6::integer * interval '1 second' as at) as shifted
         where s.workspace_id = $1 and s.id >= $2 and s.id < $3
         order by s.id),
       copied as (
         insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at, tags)
         select workspace_id, copy, form_id, version, status,
                case when copy < $5 then answers else replace(answers::text, ' ${oldWord}', '')::json end,
                reference, has_files, at, at, at, tags
         from source where copy < $7)
       insert into search_documents (workspace_id, submission_id, form_id, terms)
       select workspace_id, copy, form_id,
              replace(case when copy < $5 then terms else ts_delete(terms, old_code || ' ${oldWord}') end::text,
                      '''' || old_code, '''' || code)::tsvector
       from source where copy < $7`,
      [
        plan.workspaceId,
        idAt(from),
        idAt(from + documentsPerSegment),
        idAt(first),
        idAt(Math.ceil(plan.count / 10)),
        first - from,
        idAt(plan.count),
      ],
    );
  });
}

const codeOf = (id: string): string =>
  `(select code from search_segments where workspace_id = $1 and first_id <= ${id} order by first_id desc limit 1)`;

async function writeBatch(database: Database, plan: SeedPlan, first: number, end: number): Promise<void> {
  const batch = Array.from({ length: end - first }, (_, offset) => {
    const submission = submissionAt(first + offset, plan);
    const text = indexSubmission(
      searchableText(structure as Form, submission.answers, {}, undefined),
      'english',
    );
    return {
      ...submission,
      ...text,
      formId: plan.formIds[formIndexOf(first + offset, plan.formIds.length)]!,
    };
  });
  await database.query(
    `with source as (
       select * from unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
                            $10::text[], $11::text[], $12::text[])
         as source (id, form_id, at, answers, tag, subject, subject_folded, subject_terms, body, body_folded, body_terms)),
     submission as (
       insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at, tags)
       select $1, id, form_id, 1, 'completed', answers::json, '{}', false, at, at, at, array_remove(array[tag], null) from source
       returning workspace_id, id, form_id, status, tags)
     insert into search_documents (workspace_id, submission_id, form_id, terms)
     select workspace_id, id, submission.form_id, ${terms}
       from submission join source using (id)`,
    [
      plan.workspaceId,
      batch.map(({ id }) => id),
      batch.map(({ formId }) => formId),
      batch.map(({ id }) => timeOfId(id)),
      batch.map(({ answers }) => JSON.stringify(answers)),
      batch.map((_, offset) => ((first + offset) % markerTag.oneIn === 0 ? markerTag.tag : null)),
      batch.map(({ subject }) => subject),
      batch.map(({ subject_folded }) => subject_folded),
      batch.map(({ subject_terms }) => subject_terms.join('\u0001')),
      batch.map(({ body }) => body),
      batch.map(({ body_folded }) => body_folded),
      batch.map(({ body_terms }) => body_terms.join('\u0001')),
    ],
  );
}
