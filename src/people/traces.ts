import type { Answers } from '#ast/answers.ts';
import { firstId } from '#kit/cursor.ts';
import type { Database } from '#kit/database.ts';
import { findPage } from '#search/find-page.ts';
import { readAsked as readQuestion } from '#search/read-asked.ts';
import { saidIn } from '#submissions/erase/strip-answers.ts';
import type { SubmissionStatus } from '#submissions/queries.ts';
import type { Snapshot } from '#webhooks/event.ts';
import type { Asked } from './asked.ts';
import { lookInEvents, lookInHeld, lookInInvitations, lookInMails, lookInSubmissions } from './queries.ts';

/** What a person can be found in. An `event` is what was told of a submission that is gone: its id is the submission's. */
export const traceKinds = ['submission', 'spam', 'invitation', 'mail', 'event'] as const;
export type TraceKind = (typeof traceKinds)[number];

/** Something that is kept of a person. */
export type Trace = {
  kind: TraceKind;
  id: string;
  /** Null for a mail that is about no form. */
  form_id: string | null;
  form_name: string | null;
  created_at: Date;
  /** Of a submission alone. */
  status: SubmissionStatus | null;
  is_trashed: boolean;
  /** Where the person was found in it, in words: labels of questions, and the like. Empty where the search found it. */
  places: string[];
};

/** `exact`: a text that is this one, in everything that is kept; `words`: submissions that the search finds. */
export const matches = ['exact', 'words'] as const;
export type Match = (typeof matches)[number];

/** What is found of one person at most; of more, the oldest are found. */
export const mostTraces = 10_000;
/** What the search lists at most. */
const searchMost = 1_000;
/** Rows that one statement looks through. */
const windowRows = 2_000;

/**
 * Everything that is kept of whoever a question is about, newest first.
 * @throws ApiError bad_request for words that the search does not take.
 */
export async function findTraces(
  database: Database,
  workspaceId: string,
  asked: Asked,
  match: Match,
): Promise<{ traces: Trace[]; isPartial: boolean }> {
  const found =
    match === 'words'
      ? await searchFor(database, workspaceId, asked.q)
      : await lookEverywhere(database, workspaceId, asked);
  const traces = found.traces.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  return { ...found, traces };
}

async function searchFor(database: Database, workspaceId: string, q: string) {
  const question = await readQuestion(database, { workspaceId, formIds: null }, q);
  const { rows, total, isPartial } = await findPage(database, workspaceId, question, {
    limit: searchMost,
    offset: 0,
  });
  const traces = rows.map((row) => traceOf('submission', row, []));
  return { traces, isPartial: isPartial || total >= searchMost };
}

type Looking = Parameters<typeof lookInSubmissions>[1];
/** A row of a window in which something was found. */
type Filled<Row> = {
  [Name in keyof Row]: Name extends 'form_id' | 'form_name' ? Row[Name] : NonNullable<Row[Name]>;
};

async function lookEverywhere(
  database: Database,
  workspaceId: string,
  asked: Asked,
): Promise<{ traces: Trace[]; isPartial: boolean }> {
  const traces = new Map<string, Trace>();
  const { pattern, json_pattern, isSaid } = asked;
  /** @param placesIn where a row says it: PostgreSQL finds it in longer words too. */
  const look = async <Row extends TraceRow & { reached: string }>(
    kind: TraceKind,
    run: (db: Database, looking: Looking) => Promise<Row[]>,
    placesIn: (row: Filled<Row>) => string[],
  ): Promise<void> => {
    let after = firstId;
    while (traces.size <= mostTraces) {
      const place = { workspace_id: workspaceId, after, limit: windowRows };
      const rows = await run(database, { ...place, pattern, json_pattern });
      if (!rows[0]) return;
      for (const row of rows) {
        const trace = row.id !== null && traceOf(kind, row, placesIn(row as Filled<Row>));
        if (trace && trace.places.length > 0) traces.set(`${kind} ${trace.id}`, trace);
      }
      after = rows[0].reached;
    }
  };
  const told = (place: string, ...texts: string[]): string[] => (texts.some(isSaid) ? [place] : []);
  const said = (place: string, value: unknown): string[] => (saidIn(value, isSaid) ? [place] : []);
  const answered = ({ answers, fields, reference }: AnsweredRow): string[] => [
    ...Object.entries(answers).flatMap(([id, value]) => said(fields[id]?.label ?? id, value)),
    ...Object.entries(reference).flatMap(([name, value]) => said(`Reference ${name}`, value)),
  ];
  await look('submission', lookInSubmissions, (row) => [
    ...answered(row),
    ...told('Tags', ...row.tags),
    ...row.notes.flatMap((note) => told('Notes', note)).slice(0, 1),
    ...said(
      'History',
      row.changes.map((changes) => JSON.parse(changes) as unknown),
    ),
  ]);
  await look('spam', lookInHeld, answered);
  await look('invitation', lookInInvitations, (row) => [
    ...told('Address', row.email),
    ...told('Name', row.name),
    ...said('Reference', JSON.parse(row.reference)),
    ...said('Filled in beforehand', JSON.parse(row.prefill)),
  ]);
  await look('mail', lookInMails, (row) => [
    ...told('Recipient', row.recipient),
    ...told('Subject', row.subject),
  ]);
  await look('event', lookInEvents, (row) =>
    said('What was told', (JSON.parse(row.snapshot) as Snapshot).submission),
  );
  return { traces: [...traces.values()].slice(0, mostTraces), isPartial: traces.size > mostTraces };
}

type AnsweredRow = {
  answers: Answers;
  reference: Readonly<Record<string, string>>;
  fields: Readonly<Record<string, { label: string }>>;
};

/** What the rows of all windows have. */
type TraceRow = {
  id: string | null;
  form_id: string | null;
  form_name: string | null;
  created_at: Date | null;
  status?: SubmissionStatus | null;
  is_trashed?: boolean | null;
};

const traceOf = (kind: TraceKind, row: TraceRow, places: string[]): Trace => ({
  kind,
  id: row.id!,
  form_id: row.form_id,
  form_name: row.form_name,
  created_at: row.created_at!,
  status: row.status ?? null,
  is_trashed: row.is_trashed ?? false,
  places,
});
