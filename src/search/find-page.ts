import type { Database } from '#kit/database.ts';
import type { RowOf } from '#kit/statement.ts';
import { readFiltered } from '#submissions/list/read-list.ts';
import type { foundColumns } from '#submissions/queries.ts';
import { lookWindow } from './checks.ts';
import { countMatches, countQuestion, searchChecked, searchQuestion, searchSubmissions } from './queries.ts';
import { searchWindow } from './question.ts';
import type { Reached } from './read-asked.ts';

type FoundSubmission = RowOf<typeof foundColumns>;
/** A page, how many there are (question.ts says up to where), and whether more would have had to be looked at. */
export type FoundPage = { rows: FoundSubmission[]; total: number; isPartial: boolean };

/**
 * Finds a page of what answers a question. Words alone are a matter of the index; of what is none of its matters the
 * submissions are looked at that have the words; without words it is a list, newest first.
 */
export async function findPage(
  database: Database,
  workspaceId: string,
  asked: Reached,
  page: { limit: number; offset: number },
): Promise<FoundPage> {
  const forms = { workspace_id: workspaceId, form_ids: asked.form_ids };
  if (asked.isList) return listPage(database, forms, asked, page);
  const question = { ...forms, ...asked.index, ...asked.span, is_open: !asked.hasWords && !asked.isPlain };
  const limit = Math.min(page.limit, searchWindow - page.offset);
  if (asked.isChecked) {
    const { submissions, bytesOfAddresses, bytesOfWords } = lookWindow;
    const isOfAddresses = asked.checks.check_kinds.every((kind) => kind.endsWith('address'));
    const rows = await searchChecked(database, {
      ...question,
      ...asked.checks,
      look_window: submissions,
      look_bytes: isOfAddresses ? bytesOfAddresses : bytesOfWords,
      limit: Math.max(0, limit),
      offset: page.offset,
    });
    const [{ total, is_cut: isPartial }] = rows as [(typeof rows)[number]];
    return { rows: rows.filter(isFound), total, isPartial };
  }
  const [search, count] = asked.isPlain ? [searchSubmissions, countMatches] : [searchQuestion, countQuestion];
  const rows = limit > 0 ? await search(database, { ...question, limit, offset: page.offset }) : [];
  // A page past the end has no row that carries the total.
  const total = rows[0]?.total ?? (page.offset > 0 ? (await count(database, question))[0]!.total : 0);
  return { rows, total, isPartial: false };
}

const isFound = <Row extends { id: string | null }>(row: Row): row is Row & FoundSubmission =>
  row.id !== null;

async function listPage(
  database: Database,
  forms: { workspace_id: string; form_ids: string[] | null },
  { span, status, tag }: Reached,
  { limit, offset }: { limit: number; offset: number },
): Promise<FoundPage> {
  const filter = {
    ...nothingAsked,
    ...span,
    status,
    tag,
    kind: tag === null ? (status ? 'one' : 'any') : 'tagged',
  } as const;
  const cut = { page: 1, perPage: limit, limit, offset, after: null, total: undefined, mark: null };
  const { found, total } = await readFiltered(database, forms, { filter, sort: 'newest', cut });
  return { rows: found, total, isPartial: false };
}

const nothingAsked = {
  completed_from: null,
  completed_to: null,
  received_from: null,
  received_to: null,
  version: null,
  condition: null,
  asks_reference: false,
  isDated: true,
} as const;
