import { belowId, type Cut, leastId } from '#kit/cursor.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { RowOf } from '#kit/statement.ts';
import { type Filter, isPlain } from '../filter/read-filter.ts';
import type { Conditions } from '../filter/where-of-forms.ts';
import { type foundColumns, listSubmissions, listSubmissionsByStatus } from '../queries.ts';
import { countByCounters, countFiltered, listFiltered } from './queries.ts';

/** Newest first, or oldest first. */
type Sort = 'newest' | 'oldest';
export const sorts = ['newest', 'oldest'] as const satisfies Sort[];

type FoundSubmission = RowOf<typeof foundColumns>;
/** Submissions of a list, and how many it holds in all. */
export type Part = { found: FoundSubmission[]; total: number };

/**
 * A page of a form's submissions, newest first, of one status at most: what everybody asks for, in one statement.
 * @throws ApiError not_found.
 */
export async function readPlainPage(
  database: Database,
  form: { workspace_id: string; form_id: string },
  { status }: Pick<Filter, 'status'>,
  { limit, offset }: Cut,
): Promise<Part> {
  const list = status ? listSubmissionsByStatus : listSubmissions;
  const rows = await list(database, { ...form, status, limit, offset });
  if (rows.length === 0) throw new ApiError('not_found');
  return {
    found: rows.filter((row): row is typeof row & FoundSubmission => row.id !== null),
    total: rows[0]!.total,
  };
}

/**
 * The part that is asked for, and how many there are, or were when the reading by cursor began: only that counts.
 * `conditions`: what the condition of the filter is in each form, where that is not the same in all.
 */
export async function readFiltered(
  database: Database,
  forms: { workspace_id: string; form_ids: string[] | null },
  { filter, conditions, sort, cut }: { filter: Filter; conditions?: Conditions; sort: Sort; cut: Cut },
): Promise<Part> {
  const { kind, isDated: _, ...met } = filter;
  const left =
    sort === 'newest'
      ? { ...met, to_id: least(met.to_id, belowId(cut)) }
      : { ...met, from_id: greatest(met.from_id, leastId(cut)) };
  const { limit, offset } = cut;
  const list = listFiltered[sort];
  const count = isPlain(filter) ? countByCounters : countFiltered[kind];
  const [found, total] = await Promise.all([
    conditions
      ? list.byForm(database, { ...forms, ...left, ...conditions, limit, offset })
      : list[kind](database, { ...forms, ...left, limit, offset }),
    cut.total ??
      (conditions
        ? countFiltered.byForm(database, { ...forms, ...met, ...conditions })
        : count(database, { ...forms, ...met })
      ).then(([counted]) => counted!.total),
  ]);
  return { found, total };
}

const least = (a: string, b: string): string => (a < b ? a : b);
const greatest = (a: string, b: string): string => (a > b ? a : b);
