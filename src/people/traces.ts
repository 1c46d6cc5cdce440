import { firstId } from '#kit/cursor.ts';
import type { Database } from '#kit/database.ts';
import { fewAtOnce } from '#kit/few-at-once.ts';
import { findPage } from '#search/find-page.ts';
import { readAsked as readQuestion } from '#search/read-asked.ts';
import { saidIn } from '#submissions/erase/strip-answers.ts';
import type { SubmissionStatus } from '#submissions/queries.ts';
import type { Asked } from './asked.ts';
import {
  lookInEvents,
  lookInHeld,
  lookInInvitations,
  lookInMails,
  lookInSubmissions,
  type Said,
} from './queries.ts';

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
/** So many rows, and bytes that these say, one statement looks through. */
const mostRows = 2_000;
const windowSize = 4 * 1_048_576;
/** It reads all that there is, for many seconds where that is much (docs/privacy.md): a core of the database's each. */
const twoAtOnce = fewAtOnce(2, { seconds: 5, why: 'In this workspace 2 people are being looked for.' });

/**
 * Everything that is kept of whoever a question is about, newest first.
 * @throws ApiError bad_request for words that the search does not take; rate_limit_exceeded while two of the workspace look
 *   through everything.
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
      : await twoAtOnce.run(workspaceId, () => lookEverywhere(database, workspaceId, asked));
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

const lookIn = {
  submission: lookInSubmissions,
  spam: lookInHeld,
  invitation: lookInInvitations,
  mail: lookInMails,
  event: lookInEvents,
} as const satisfies Record<TraceKind, unknown>;

async function lookEverywhere(
  database: Database,
  workspaceId: string,
  { pattern, json_pattern, isSaid }: Asked,
): Promise<{ traces: Trace[]; isPartial: boolean }> {
  const traces = new Map<string, Trace>();
  // PostgreSQL finds it in longer words too, which are somebody else's.
  const placesOf = (said: Said): string[] => [
    ...new Set(said.flatMap(([place, value]) => (saidIn(value, isSaid) ? [place] : []))),
  ];
  for (const kind of traceKinds) {
    let after: string | undefined = firstId;
    let limit = mostRows;
    while (after !== undefined && traces.size <= mostTraces) {
      const window = { after, limit, size: windowSize };
      const asked = { workspace_id: workspaceId, ...window, pattern, json_pattern };
      const rows: Awaited<ReturnType<typeof lookInSubmissions>> = await lookIn[kind](database, asked);
      for (const row of rows) {
        const places = placesOf(row.said ?? []);
        if (places.length > 0) traces.set(`${kind} ${row.id}`, traceOf(kind, row, places));
      }
      after = rows[0]?.reached;
      // Where rows say much, those behind a window are not measured for the next one again and again.
      limit = Math.min(mostRows, 2 * (rows[0]?.looked ?? 0));
    }
  }
  return { traces: [...traces.values()].slice(0, mostTraces), isPartial: traces.size > mostTraces };
}

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
