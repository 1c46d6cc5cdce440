import { searchableText } from '#ast/searchable.ts';
import type { Form } from '#ast/tree.ts';
import { timeOfId } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { countSlots, searchTerms } from '#submissions/queries.ts';

/** Words that some of the submissions have and that nothing else has: one in so many of them. */
export const markerWords = {
  rare: { word: 'xylograph', oneIn: 12_500 },
  medium: { word: 'harpsichord', oneIn: 100 },
  common: { word: 'gathering', oneIn: 5 / 3 },
} as const;

type Answers = Record<string, string | number | boolean>;
export type SeededSubmission = { id: string; answers: Answers };

const field = (type: string, id: string, attrs: object = {}): object => ({
  type,
  attrs: { id, label: `Your ${id}`, ...attrs },
  children: [],
});

/** A form of eight fields, as people make them. */
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
      ],
    },
  ],
};

/** mulberry32: the same numbers from 0 to 1 for the same seed, on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const syllables = [
  'ba',
  'cor',
  'del',
  'fan',
  'gri',
  'hol',
  'jun',
  'kel',
  'lum',
  'mor',
  'nav',
  'pel',
  'quin',
  'ros',
  'sul',
  'tam',
];
/** 4,096 words of three syllables. */
const vocabulary = syllables.flatMap((first) =>
  syllables.flatMap((second) => syllables.map((third) => first + second + third)),
);

/**
 * `count` submissions of the form above, about 1 KB each, the same on every machine. Their ids are UUIDv7 of seconds
 * that are over, so that what the benchmark itself submits is newer.
 */
export function makeSubmissions(count: number, seed = 1): SeededSubmission[] {
  const random = randomFrom(seed);
  // Squared: a few words are frequent and most are rare, as in a language.
  const words = (length: number): string =>
    Array.from({ length }, () => vocabulary[Math.floor(random() ** 2 * vocabulary.length)]).join(' ');
  const marks = (): string =>
    Object.values(markerWords)
      .map(({ word, oneIn }) => (random() * oneIn < 1 ? ` ${word}` : ''))
      .join('');
  const firstSecond = Date.UTC(2025, 0, 1) / 1_000 + seed * 10_000_000;
  return Array.from({ length: count }, (_, index) => ({
    id: idOf((firstSecond + index) * 1_000, seed),
    answers: {
      subject: words(4) + (random() < 0.06 ? ` ${markerWords.common.word}` : ''),
      email: `person${index}@example.com`,
      phone: `+49 30 ${1_000_000 + Math.floor(random() * 9_000_000)}`,
      topic: ['Sales', 'Support', 'Press', 'Something else'][Math.floor(random() * 4)]!,
      people: Math.floor(random() * 100),
      day: '2025-06-15',
      newsletter: random() < 0.5,
      message: words(85) + marks(),
    },
  }));
}

function idOf(milliseconds: number, seed: number): string {
  const time = milliseconds.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(seed).padStart(12, '0')}`;
}

const rowsAtOnce = 1_000;

/** The service's own search document, with columns of the source in place of its parameters. */
const terms = searchTerms.replaceAll('$language', "'english'").replaceAll('$', '');

/** Writes submissions as the service's insertSubmission does, a thousand at a time over two connections. */
export async function seed(
  database: Database,
  place: { workspaceId: string; formId: string },
  submissions: readonly SeededSubmission[],
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(submissions.length / rowsAtOnce) }, (_, index) =>
    submissions.slice(index * rowsAtOnce, (index + 1) * rowsAtOnce),
  );
  const writeAll = async (): Promise<void> => {
    for (let batch = batches.shift(); batch; batch = batches.shift())
      await writeBatch(database, place, batch);
  };
  await Promise.all([writeAll(), writeAll()]);
  await database.query(
    `insert into submission_counts (workspace_id, form_id, status, slot, count)
     select $1::uuid, $2::uuid, 'completed', slot, count(*)
       from generate_series(0, $3::integer - 1) as number, lateral (select number % ${countSlots} as slot) as place
      group by slot`,
    [place.workspaceId, place.formId, submissions.length],
  );
}

async function writeBatch(
  database: Database,
  { workspaceId, formId }: { workspaceId: string; formId: string },
  batch: readonly SeededSubmission[],
): Promise<void> {
  const texts = batch.map(({ answers }) => searchableText(structure as Form, answers, {}, undefined));
  await database.query(
    `with source as (
       select * from unnest($3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[]) as source (id, at, answers, subject, body)),
     submission as (
       insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at)
       select $1, id, $2, 1, 'completed', answers::json, '{}', false, at, at, at from source
       returning workspace_id, id, form_id)
     insert into search_documents (workspace_id, submission_id, form_id, terms)
     select workspace_id, id, form_id, ${terms}
       from submission join source using (id)`,
    [
      workspaceId,
      formId,
      batch.map(({ id }) => id),
      batch.map(({ id }) => timeOfId(id)),
      batch.map(({ answers }) => JSON.stringify(answers)),
      texts.map(({ subject }) => subject),
      texts.map(({ body }) => body),
    ],
  );
}
