import { isRecord } from '#ast/json.ts';
import { cutToBytes } from '#ast/text.ts';
import { mapInTurns } from '#kit/concurrency.ts';
import type { Database } from '#kit/database.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import type { Hit } from '#submissions/present.ts';
import type { CompiledQuestion } from './compile-question.ts';
import { questionParameters, questionSql, type UnitKind, walk, wordsAlone } from './question.ts';

/** The texts with marks around every word that a question finds, in the order in which they were given. */
const markHits = statement(
  'mark_hits',
  'languages texts q beginnings:texts options:text',
  'marked:text',
  `select ts_headline(question.config, given.text, question.words, $options) as marked
   from unnest($languages, $texts) with ordinality as given (language, text, place)
   join (
     select language, config, concat_ws(' | ',
       nullif(replace(plainto_tsquery(config, $q)::text, ' & ', ' | '), ''),
       (select string_agg(format('%L:*', lower(word)), ' | ') from unnest($beginnings) as word))::tsquery as words
     from (select distinct language, language::regconfig as config from unnest($languages) as language) languages
     -- Or PostgreSQL makes them anew for each text.
     offset 0) question using (language)
   order by given.place`,
);

/** Marks that no answer is expected to hold: private use. A text that holds one loses it. */
const [begin, end] = ['\uE000', '\uE001'];
const options = `StartSel=${begin}, StopSel=${end}, HighlightAll=true`;

/** The beginning of a text in which hits are looked for: longer ones cost time, and nobody reads on for them. */
const readBytes = 20_000;
/** No byte less: a character is one at least. */
export const readCharacters = readBytes;

/** What is looked for in texts: the words that must be there, and how others begin. */
type Sought = { q: string; beginnings: readonly string[] };

/** What the hits of a question are. */
export function soughtBy({ q, unit_kinds, unit_texts }: CompiledQuestion['index']): Sought {
  const texts = (kind: UnitKind) => unit_texts.filter((_, place) => unit_kinds[place] === kind);
  return { q: [q, ...texts('address')].join('\n'), beginnings: texts('beginning') };
}

/**
 * Which words of each text a question finds, as they are written there: "runs" finds "Running". For showing, on the
 * few texts of a page; what matches is decided by the search itself.
 * @returns for each text its distinct words, the longest first, so that a shorter one inside it does not split it.
 */
export async function findHits(
  database: Queryable,
  { q, beginnings }: Sought,
  texts: readonly { text: string; language: string }[],
): Promise<string[][]> {
  if (texts.length === 0) return [];
  const plain = texts.map(({ text }) =>
    cutToBytes(text.slice(0, readCharacters).replaceAll(/[\uE000\uE001]/g, ' '), readBytes),
  );
  const rows = await markHits(database, {
    languages: texts.map(({ language }) => language),
    texts: plain,
    q,
    beginnings: [...beginnings],
    options,
  });
  const parts = partsOfAddresses(q);
  return rows.map(({ marked }, index) => {
    const words = [...marked.matchAll(/\uE000([^\uE001]*)\uE001/g)].map((match) => match[1]!);
    return [...new Set([...words, ...addressesIn(plain[index]!, parts)])].sort((a, b) => b.length - a.length);
  });
}

const partsOfAddresses = (q: string): Set<string> => new Set(q.toLowerCase().split(/\s+/).filter(Boolean));

/** The most characters before and behind the @ of an address (RFC 5321, 4.5.3.1). */
const [longestName, longestDomain] = [64, 255];
/** Addresses of one text that are looked at; more are a list, which nobody reads through here. */
const mostAddresses = 200;

/**
 * The mail addresses whose domain, a part of it, or name before the @ is asked for: to the index an address is one word. It is
 * looked around each @: a pattern of the whole would try every word of a text.
 */
function addressesIn(text: string, asked: ReadonlySet<string>): string[] {
  return [...take(text.matchAll(/@/g), mostAddresses)].flatMap(({ index: at }) => {
    const name = /[\w.+-]+$/.exec(text.slice(Math.max(0, at - longestName - 1), at))?.[0] ?? '';
    const domain = /^[\w-]+(?:\.[\w-]+)+/.exec(text.slice(at + 1, at + 1 + longestDomain))?.[0];
    if (name === '' || name.length > longestName || domain === undefined) return [];
    const host = domain.toLowerCase();
    const parts = [name.toLowerCase(), host, ...host.split('.').slice(0, -1)];
    return parts.some((part) => asked.has(part)) ? [`${name}@${domain}`] : [];
  });
}

/** Answers in which hits are looked for; behind them come long lists of rows, which nobody reads through here. */
const mostTexts = 200;
const excerptCharacters = 160;

/** A submission in which words are looked for, in the language by which they are found, and as people read its options. */
type Searched = {
  answers: string;
  reference: string;
  language: string;
  /** Undefined where every option is read as it is kept. */
  sayOption: SayOption | undefined;
};
/** The label of an option of an element; undefined for an answer that is read as it is kept. */
export type SayOption = (element: string, id: string) => string | undefined;

/** Where each submission has what is sought, in the order of its answers. */
export async function placeHits(
  database: Queryable,
  sought: Sought,
  rows: readonly Searched[],
): Promise<Hit[][]> {
  const placed = rows.flatMap((submission, row) =>
    [...take(textsOf(submission), mostTexts)].map((text) => ({
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

function* take<Item>(items: Iterable<Item>, most: number): Generator<Item> {
  let left = most;
  for (const item of items) {
    if (left-- === 0) return;
    yield item;
  }
}

/** The texts of a submission as they are read, each with the way to it. */
export function* textsOf({
  answers,
  reference,
  sayOption,
}: Omit<Searched, 'language'>): Generator<{ path: (string | number)[]; text: string }> {
  for (const { path, text } of textsIn(
    { answers: JSON.parse(answers), reference: JSON.parse(reference) },
    [],
  )) {
    yield { path, text: (sayOption && labelAt(path, text, sayOption)) ?? text };
  }
}

/** The element's id comes last in the way to an answer, but for the row of a matrix. */
function labelAt(path: readonly (string | number)[], text: string, sayOption: SayOption): string | undefined {
  const ids = path[0] === 'answers' ? path.filter((step) => typeof step === 'string').slice(-2) : [];
  return ids.toReversed().flatMap((id) => sayOption(id, text) ?? [])[0];
}

/** The parts of a file that are no words of whoever sent it. */
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
 * Options whose label is not what answers keep, of the named elements, or of all, in forms as they are live. Only forms that
 * have such options are taken apart.
 */
export const listLabelledOptions = statement(
  'list_labelled_options',
  'workspace_id form_ids? elements?',
  'form_id element id:text label',
  `select f.id as form_id, asking.attrs ->> 'id' as element, option ->> 'id' as id, option ->> 'label' as label
   from forms f
   join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
     -- An object among options, behind any number of texts.
     and v.structure::text ~ '"options"\\s*:\\s*\\[(?:\\s*"(?:[^"\\\\]|\\\\.)*"\\s*,)*\\s*\\{'
   cross join jsonb_path_query(v.structure::jsonb, 'strict $.**.attrs ? (exists (@.options[*].label))') as asking (attrs)
   cross join jsonb_array_elements(asking.attrs -> 'options') as option
   where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))
     and ($elements is null or asking.attrs ->> 'id' = any ($elements)) and option ->> 'label' is not null`,
);

/** A form in the version that is live. */
type Live = { id: string; version: number };

/** By element and id of the option. */
type Labels = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The labels of options whose ids answers keep, by form, as the forms are now; undefined of a form without any. */
export type OptionLabels = (
  workspaceId: string,
  forms: readonly Live[],
) => Promise<(formId: string) => SayOption | undefined>;

/** Versions whose labels are kept. */
const keptVersions = 200;

/** Labels are asked for once per version, since versions never change. */
export function openOptionLabels(database: Database): OptionLabels {
  const kept = new Map<string, Labels>();

  const readLabels = async (workspace_id: string, forms: readonly Live[]): Promise<void> => {
    const form_ids = forms.map(({ id }) => id);
    const rows = await listLabelledOptions(database, { workspace_id, form_ids, elements: null });
    const rowsOf = Map.groupBy(rows, ({ form_id }) => form_id);
    for (const form of forms) {
      const byElement = Map.groupBy(rowsOf.get(form.id) ?? [], ({ element }) => element);
      kept.set(
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
    const unknown = forms.filter((form) => !kept.has(keyOf(form)));
    if (unknown.length > 0) await readLabels(workspaceId, unknown);
    const labels = new Map(forms.map((form) => [form.id, kept.get(keyOf(form))!]));
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - keptVersions)))
      kept.delete(oldest);
    return (formId) => {
      const ofForm = labels.get(formId);
      return ofForm?.size ? (element, id) => ofForm.get(element)?.get(id) : undefined;
    };
  };
}

const keyOf = ({ id, version }: Live): string => `${id}:${version}`;

/** The answers of the newest submissions that answer a question; those of unusual length are left out. */
const listWrittenTexts = statement(
  'list_written_texts',
  ['limit', questionParameters],
  'answers:text',
  `with ${questionSql}
   select s.answers::text as answers
   from (${walk('anywhere', { limit: '$limit', inOrder: true })}) newest
   join submissions s on s.workspace_id = $workspace_id and s.id = newest.id
   where s.trashed_at is null and length(s.answers::text) < 20000`,
);

/** Submissions whose words are read: the newest that have one that begins so. */
const readSubmissions = 100;
/** Longer texts are no names, and cost more than they say. */
const longestText = 200;

type Reach = { workspace_id: string; form_ids: string[] | null };

/** The words that begin in one of these ways in short answers of the newest submissions, in small letters, each as often as it is there. */
export async function writtenWords(
  database: Database,
  reach: Reach,
  beginnings: readonly string[],
): Promise<string[]> {
  const rows = await listWrittenTexts(database, {
    ...reach,
    ...wordsAlone,
    q: '',
    unit_kinds: ['beginning'],
    unit_texts: [beginnings.join(' ')],
    limit: readSubmissions,
  });
  const words = await mapInTurns(
    rows,
    ({ answers }) => answers.length,
    ({ answers }) =>
      [...wordsIn(JSON.parse(answers))].filter((word) =>
        beginnings.some((beginning) => word.startsWith(beginning)),
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
