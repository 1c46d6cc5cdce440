import { isRecord } from '#ast/basics/json.ts';
import { mapWithYields } from '#kit/concurrency.ts';
import type { Database } from '#kit/database.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import type { Hit } from '#submissions/present.ts';
import { foldText } from '#submissions/search-text/spellings.ts';
import { findHits, type HitTerms } from './find-hits.ts';
import { fullSearchSql, searchParameters, selectMatchesSql, wordsOnlyParameters } from './search-sql.ts';

/**
 * The maximum number of answers searched for hits. Submissions with more have long lists of rows, which
 * people do not read on this page.
 */
const mostTexts = 200;
const excerptCharacters = 160;

/** A submission to search for words, with its search language and the labels of its options. */
type Searched = {
  answers: string;
  reference: string;
  language: string;
  /** Undefined if the labels of all options equal the stored answers. */
  findLabel: FindOptionLabel | undefined;
};
/** Returns the label of an option of an element, or undefined if the answer is shown as stored. */
export type FindOptionLabel = (element: string, id: string) => string | undefined;

/** Returns the hits of each submission, in the order of its answers. */
export async function locateHits(
  database: Queryable,
  sought: HitTerms,
  rows: readonly Searched[],
): Promise<Hit[][]> {
  const placed = rows.flatMap((submission, row) =>
    [...limitItems(listSubmissionTexts(submission), mostTexts)].map((text) => ({
      ...text,
      row,
      language: submission.language,
    })),
  );
  const words = await findHits(database, sought, placed);
  const hits = rows.map((): Hit[] => []);
  for (const [index, { row, path, text }] of placed.entries()) {
    const found = words[index]!;
    if (found.length > 0) hits[row]!.push({ path, words: found, excerpt: excerptOf(text, found) });
  }
  return hits;
}

function* limitItems<Item>(items: Iterable<Item>, most: number): Generator<Item> {
  let left = most;
  for (const item of items) {
    if (left-- === 0) return;
    yield item;
  }
}

/** Yields the texts of a submission as people read them, each with its path. */
export function* listSubmissionTexts({
  answers,
  reference,
  findLabel,
}: Omit<Searched, 'language'>): Generator<{ path: (string | number)[]; text: string }> {
  for (const { path, text } of textsIn(
    { answers: JSON.parse(answers), reference: JSON.parse(reference) },
    [],
  ))
    yield { path, text: (findLabel && labelAt(path, text, findLabel)) ?? text };
}

/** The last id in the path of an answer is its element, except in the row of a matrix. */
function labelAt(
  path: readonly (string | number)[],
  text: string,
  findLabel: FindOptionLabel,
): string | undefined {
  const ids = path[0] === 'answers' ? path.filter((step) => typeof step === 'string').slice(-2) : [];
  return ids.toReversed().flatMap((id) => findLabel(id, text) ?? [])[0];
}

/** Whether a property of a file was written by the system instead of the visitor. */
const isSystems = (key: string, holder: object): boolean => 'filename' in holder && key !== 'filename';

function* textsIn(
  value: unknown,
  path: (string | number)[],
): Generator<{ path: (string | number)[]; text: string }> {
  if (typeof value === 'string' || typeof value === 'number') yield { path, text: String(value) };
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* textsIn(item, [...path, index]);
  else if (isRecord(value))
    for (const [key, item] of Object.entries(value))
      if (!isSystems(key, value)) yield* textsIn(item, [...path, key]);
}

function excerptOf(text: string, words: readonly string[]): string {
  const first = Math.min(...words.map((word) => text.indexOf(word)).filter((at) => at >= 0));
  const start = first > excerptCharacters / 2 ? first - excerptCharacters / 4 : 0;
  const cut = text.slice(start, start + excerptCharacters).toWellFormed();
  return `${start > 0 ? '…' : ''}${cut}${start + excerptCharacters < text.length ? '…' : ''}`;
}

/**
 * Selects options whose label differs from the stored answer, in the live versions, for all elements or the
 * named ones. Only forms with these options are parsed.
 */
export const listLabelledOptions = statement(
  'workspace_id form_ids? elements?',
  'form_id element id:text label',
)`
  select f.id as form_id, asking.attrs ->> 'id' as element, option ->> 'id' as id, option ->> 'label' as label
  from forms f
  join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
    -- Options that contain an object, after any number of texts.
    and v.structure::text ~ '"options"\\s*:\\s*\\[(?:\\s*"(?:[^"\\\\]|\\\\.)*"\\s*,)*\\s*\\{'
  cross join jsonb_path_query(v.structure::jsonb, 'strict $.**.attrs ? (exists (@.options[*].label))') as asking (attrs)
  cross join jsonb_array_elements(asking.attrs -> 'options') as option
  where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))
    and ($elements is null or asking.attrs ->> 'id' = any ($elements)) and option ->> 'label' is not null`;

/** A form with its live version. */
type Live = { id: string; version: number };

/** Labels by element and option id. */
type Labels = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * Returns the labels of options by form, from its live version. Returns undefined for a form whose options
 * have no separate labels.
 */
export type ReadOptionLabels = (
  workspaceId: string,
  forms: readonly Live[],
) => Promise<(formId: string) => FindOptionLabel | undefined>;

/** The number of versions whose labels stay in memory. */
const keptVersions = 200;

/** Reads labels once per version, because versions never change. */
export function openOptionLabels(database: Database): ReadOptionLabels {
  const cache = new Map<string, Labels>();

  const readLabels = async (workspace_id: string, forms: readonly Live[]): Promise<void> => {
    const form_ids = forms.map(({ id }) => id);
    const rows = await listLabelledOptions(database, { workspace_id, form_ids, elements: null });
    const rowsOf = Map.groupBy(rows, ({ form_id }) => form_id);
    for (const form of forms) {
      const byElement = Map.groupBy(rowsOf.get(form.id) ?? [], ({ element }) => element);
      cache.set(
        keyOf(form),
        new Map(
          [...byElement].map(([element, options]) => [
            element,
            new Map(options.map(({ id, label }) => [id, label])),
          ]),
        ),
      );
    }
  };

  return async (workspaceId, forms) => {
    const unknown = forms.filter((form) => !cache.has(keyOf(form)));
    if (unknown.length > 0) await readLabels(workspaceId, unknown);
    const labels = new Map(forms.map((form) => [form.id, cache.get(keyOf(form))!]));
    for (const oldest of [...cache.keys()].slice(0, Math.max(0, cache.size - keptVersions)))
      cache.delete(oldest);
    return (formId) => {
      const ofForm = labels.get(formId);
      return ofForm?.size ? (element, id) => ofForm.get(element)?.get(id) : undefined;
    };
  };
}

const keyOf = ({ id, version }: Live): string => `${id}:${version}`;

/** Selects the answers of the newest submissions that match a query, except unusually long ones. */
const listWrittenTexts = statement(['limit', searchParameters], 'answers:text')`
  with ${fullSearchSql}
  select s.answers::text as answers
  from (${selectMatchesSql('anywhere', { limit: '$limit', inOrder: true })}) newest
  join submissions s on s.workspace_id = $workspace_id and s.id = newest.id
  where s.trashed_at is null and length(s.answers::text) < 20000`;

/** The number of submissions whose words are read: the newest ones with a word that begins this way. */
const readSubmissions = 100;
/** Longer texts are not names, and reading them is not worth the time. */
const longestText = 200;

type Reach = { workspace_id: string; form_ids: string[] | null };

/**
 * Returns the words with one of these beginnings in short answers of the newest submissions, in lower case. A
 * word is listed once per occurrence.
 */
export async function findWordsBeginningWith(
  database: Database,
  reach: Reach,
  beginnings: readonly string[],
): Promise<string[]> {
  const rows = await listWrittenTexts(database, {
    ...reach,
    ...wordsOnlyParameters,
    word_groups: [1],
    word_kinds: ['beginning'],
    word_texts: [beginnings.join(' ')],
    limit: readSubmissions,
  });
  const words = await mapWithYields(
    rows,
    ({ answers }) => answers.length,
    ({ answers }) =>
      [...wordsIn(JSON.parse(answers))].filter((word) =>
        beginnings.some((beginning) => word.startsWith(beginning) || foldText(word).startsWith(beginning)),
      ),
  );
  return words.flat();
}

function* wordsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (value.length <= longestText)
      for (const [word] of value.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) yield word;
  } else if (Array.isArray(value)) for (const item of value) yield* wordsIn(item);
  else if (isRecord(value)) for (const item of Object.values(value)) yield* wordsIn(item);
}
