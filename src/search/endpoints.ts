import { type Static, Type } from 'typebox';
import { chooseSearchLanguage, defaultSearchLanguage } from '#ast/basics/languages.ts';
import { findUnfinishedPart, parseSearch } from '#ast/search.ts';
import type { FileLinks } from '#files/stored-files.ts';
import type { Database } from '#kit/database.ts';
import { markJsonList, markJsonText } from '#kit/http.ts';
import { allowedTypos, mistakesBetween } from '#kit/nearest-names.ts';
import { operation, type RequestScope } from '#kit/operation.ts';
import { finishPage, pageParameters, readPageRequest } from '#kit/pagination.ts';
import { requireRow } from '#kit/statement.ts';
import { strictObject } from '#kit/validation.ts';
import { formatSubmissions, type Hit } from '#submissions/present.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import { searchCheckLimits } from './compile-search.ts';
import { hitTermsOf } from './find-hits.ts';
import { findWordsBeginningWith, locateHits, openOptionLabels } from './hits.ts';
import { submissionPageSchema } from './list-endpoints.ts';
import { readSubmissions } from './read-submissions.ts';
import { refuseUnsearchable } from './resolve-search.ts';
import { countMatches } from './search-page.ts';
import { searchWindow } from './search-sql.ts';
import { compileWords } from './search-words.ts';
import { listSearchedForms, suggestCompletions } from './suggest.ts';
import { type FoundPage, type FoundSubmission, readSearchView, type View } from './view.ts';

/** The minimum length of a word to correct. */
const leastMistaken = 4;
/**
 * Returns the word in `written` with the fewest differences from `sought`; if several tie, the most frequent
 * one. Returns undefined if all words differ too much.
 */
export function nearestWord(sought: string, written: Iterable<string>): string | undefined {
  const most = allowedTypos(sought);
  const found = new Map<string, { mistakes: number; times: number }>();
  for (const word of written) {
    const known = found.get(word);
    if (known) known.times += 1;
    else if (Math.abs(word.length - sought.length) <= most && word !== sought)
      found.set(word, { mistakes: mistakesBetween(sought, word), times: 1 });
  }
  const near = [...found].filter(([, { mistakes }]) => mistakes <= most);
  return near.sort(([, a], [, b]) => a.mistakes - b.mistakes || b.times - a.times)[0]?.[0];
}

/** A word that no submission contains, and the nearest word that occurs in one. */
type Correction = { from: string; to: string };

/** Only the first words of a query are corrected, because each one costs several lookups. */
const mostWords = 5;

/**
 * Replaces each word that no submission contains with the nearest existing word: `jonh` with `john`.
 * Candidates share the beginning of the word, except in its first two letters (docs/decisions/0082).
 */
async function correct(
  database: Database,
  reach: { workspace_id: string; form_ids: string[] | null },
  q: string,
): Promise<{ q: string; corrections: Correction[] } | undefined> {
  const words = parseSearch(q).parts.filter(
    (part) =>
      part.kind === 'word' && !part.isNot && part.text.length >= leastMistaken && /^\p{L}+$/u.test(part.text),
  );
  const corrections: Correction[] = [];
  let corrected = '';
  let at = 0;
  for (const { text, begin, end } of words.slice(0, mostWords)) {
    const to = (await isWritten(database, reach, text))
      ? undefined
      : await findNearest(database, reach, text);
    if (to === undefined) continue;
    corrections.push({ from: text, to });
    corrected += q.slice(at, begin) + to;
    at = end;
  }
  return corrections.length === 0 ? undefined : { q: corrected + q.slice(at), corrections };
}

type Reach = Parameters<typeof correct>[1];

async function isWritten(database: Database, reach: Reach, q: string): Promise<boolean> {
  const [{ total } = { total: 0 }] = await countMatches(database, { ...reach, ...compileWords(q) });
  return total > 0;
}

async function findNearest(database: Database, reach: Reach, text: string): Promise<string | undefined> {
  const sought = text.toLowerCase();
  const half = sought.slice(0, Math.max(3, Math.ceil(sought.length / 2)));
  // A longer beginning occurs in fewer submissions, so the search for it reaches further back.
  const beginnings = [
    [half],
    [sought.slice(0, 2)],
    [`${sought[1]}${sought[0]}${sought[2]}`],
    // If only one letter may be wrong, the rest of the word is correct.
    withAnotherLetter(allowedTypos(sought) === 1 ? sought : half),
  ];
  for (const among of beginnings) {
    const nearest = nearestWord(sought, await findWordsBeginningWith(database, reach, among));
    if (nearest !== undefined) return nearest;
  }
  return undefined;
}

/** The first and last letter of each alphabet that is contiguous in Unicode. */
const alphabets = ['az', 'αω', 'ая', 'את', 'ءي'];

/**
 * Returns all variants of a beginning with the first or second letter replaced, removed or added. Only a few
 * of them are in the index.
 */
function withAnotherLetter(beginning: string): string[] {
  return [0, 1].flatMap((at) => {
    const [before, after] = [beginning.slice(0, at), beginning.slice(at + 1)];
    return [
      before + after,
      ...alphabetOf(beginning[at]!).flatMap((letter) => [
        before + letter + after,
        before + letter + beginning.slice(at),
      ]),
    ];
  });
}

function alphabetOf(letter: string): string[] {
  const ends = alphabets.find(([first, last]) => first! <= letter && letter <= last!) ?? letter;
  const [first, last] = [ends.charCodeAt(0), ends.charCodeAt(ends.length - 1)];
  return Array.from({ length: last - first + 1 }, (_, place) => String.fromCharCode(first + place));
}

const formParameter = {
  form_id: Type.Optional(Type.String({ format: 'uuid', description: 'Search in this form only.' })),
};

const Reading = Type.Object(
  {
    is_partial: Type.Boolean({
      description: `True if not all submissions that contain the words were checked for a phrase, an address or an element. Only the newest ${searchCheckLimits.submissions} are checked, up to ${searchCheckLimits.bytesOfWords} bytes of answers. \`total_count\` counts only checked submissions.`,
    }),
    corrections: Type.Array(Type.Object({ from: Type.String(), to: Type.String() }), {
      description: 'With `typos`: words that no submission contains, and the words searched for instead.',
    }),
  },
  {
    description:
      'How the query was interpreted. Present if it has more than words, or if `typos` replaced words.',
  },
);

/** A page of submissions, with the interpretation of the query. */
const SearchPage = Type.Object({ ...submissionPageSchema.properties, search: Type.Optional(Reading) });

const SuggestionList = Type.Object({
  begin: Type.Integer({
    description: 'The zero-based position of the first character that a suggestion replaces.',
  }),
  end: Type.Integer({ description: 'The position after the last character that a suggestion replaces.' }),
  data: Type.Array(
    Type.Object({
      kind: Type.Enum(['operator', 'element', 'word', 'form', 'status', 'tag']),
      text: Type.String({ description: 'The replacement text.' }),
      label: Type.String({ description: 'A human-readable label.' }),
    }),
  ),
});

type Searched = { view: View; found: FoundPage<FoundSubmission> };

/**
 * Operations for full-text search: specification, "Search rules"; docs/rules.md 11. docs/guides/search.md
 * describes the grammar.
 */
export function searchEndpoints({ database, links }: { database: Database; links: FileLinks }) {
  const optionLabels = openOptionLabels(database);
  return {
    searchSubmissions: operation({
      summary: 'Search submissions',
      description: `Searches the workspace or one form, sorted by relevance. Every word must be present, in any inflected form. Words in the subject count most; ties are sorted newest first. Any text is a valid query. The guide "Search" explains phrases, \`-not\`, \`beginn*\` and operators such as \`email:\` and \`after:\`. You can page through the first ${searchWindow} results: \`total_count\` is exact below ${searchWindow}; ${searchWindow} means that many or more.`,
      permission: 'submissions:read',
      example: { query: { q: 'stuck shuttle' } },
      query: strictObject({
        q: Type.String({ description: 'The search query.' }),
        ...formParameter,
        ...pageParameters,
        include: Type.Optional(
          Type.Enum(['hits'], { description: '`hits` shows where each submission contains the words.' }),
        ),
        typos: Type.Optional(
          Type.Boolean({
            description:
              'If nothing is found, replaces words that no submission contains with the nearest existing words, and lists them in `search`.',
          }),
        ),
      }),
      reply: { status: 200, description: 'A page of submissions, sorted by relevance.', schema: SearchPage },
      async run({ workspaceId, formIds, query }) {
        const reach = await reachForms({ workspaceId, formIds }, query.form_id);
        const cut = readPageRequest(query);
        const read = async (q: string): Promise<Searched> => {
          const view = await readSearchView(database, reach, q);
          return { view, found: await readSubmissions(database, view, cut) };
        };
        const first = await read(query.q);
        const mended =
          query.typos && first.found.total === 0 ? await correctly(reach, query.q, read) : undefined;
        const { view, found } = mended ?? first;
        const texts = await formatSubmissions(found.rows, links);
        const data = query.include === 'hits' ? withHits(texts, await hitsOf(view, found)) : texts;
        const reading = { is_partial: found.isPartial ?? false, corrections: mended?.corrections ?? [] };
        return {
          json: markJsonList<Static<typeof SearchPage>>(data, {
            ...finishPage(cut, found.rows, found.total).ends,
            ...((!view.question?.isPlain || mended) && { search: reading }),
          }),
        };
      },
    }),

    suggestSearch: operation({
      summary: 'Suggest search terms',
      description:
        'Returns completions for an unfinished query: operators, elements, forms, tags, and words of answers.',
      permission: 'submissions:read',
      example: { query: { q: 'stuck stat' } },
      query: strictObject({
        q: Type.String({ description: 'The query so far.' }),
        at: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 1_024,
            description: 'The cursor position in the query, in characters. Defaults to its end.',
          }),
        ),
        ...formParameter,
      }),
      reply: { status: 200, description: 'The suggestions, most likely first.', schema: SuggestionList },
      async run({ workspaceId, formIds, query: { q, at = q.length, form_id } }) {
        refuseUnsearchable(q);
        const { formIds: form_ids } = await reachForms({ workspaceId, formIds }, form_id);
        const unfinished = findUnfinishedPart(q, Math.min(at, q.length));
        if (!unfinished) return { body: { begin: q.length, end: q.length, data: [] } };
        const { begin, end } = unfinished;
        const reach = { workspace_id: workspaceId, form_ids: form_ids && [...form_ids] };
        return { body: { begin, end, data: await suggestCompletions(database, reach, unfinished) } };
      },
    }),
  };

  /** @throws ApiError not_found if a form does not exist or is not accessible. */
  async function reachForms(
    { workspaceId, formIds }: Pick<RequestScope, 'workspaceId' | 'formIds'>,
    formId: string | undefined,
  ): Promise<{ workspaceId: string; formIds: readonly string[] | null }> {
    if (formId === undefined) return { workspaceId, formIds };
    requireFormAccess(formIds, formId);
    const id = formId.toLowerCase();
    requireRow(await listSearchedForms(database, { workspace_id: workspaceId, form_ids: [id] }));
    return { workspaceId, formIds: [id] };
  }

  /** Repeats the search with corrected words. Returns undefined if that finds nothing either. */
  async function correctly(
    reach: { workspaceId: string; formIds: readonly string[] | null },
    q: string,
    read: (q: string) => Promise<Searched>,
  ): Promise<(Searched & { corrections: Correction[] }) | undefined> {
    const forms = { workspace_id: reach.workspaceId, form_ids: reach.formIds && [...reach.formIds] };
    const corrected = await correct(database, forms, q);
    if (!corrected) return undefined;
    const again = await read(corrected.q);
    return again.found.total === 0 ? undefined : { ...again, corrections: corrected.corrections };
  }

  async function hitsOf(
    { workspace_id, question }: View,
    { rows }: FoundPage<FoundSubmission>,
  ): Promise<Hit[][]> {
    if (!question) return rows.map(() => []);
    const form_ids = [...new Set(rows.map(({ form_id }) => form_id))];
    const forms = await listSearchedForms(database, { workspace_id, form_ids });
    const languages = new Map(forms.map(({ id, language }) => [id, language]));
    const labels = await optionLabels(workspace_id, forms);
    const read = rows.map((row) => ({
      ...row,
      language:
        row.language === null
          ? (languages.get(row.form_id) ?? defaultSearchLanguage)
          : chooseSearchLanguage({}, row.language),
      findLabel: labels(row.form_id),
    }));
    return locateHits(database, hitTermsOf(question), read);
  }
}

type Item = Static<typeof SearchPage>['data'][number];

const withHits = (texts: readonly string[], hits: readonly Hit[][]) =>
  texts.map((text, index) =>
    markJsonText<Item>(`${text.slice(0, -1)},"hits":${JSON.stringify(hits[index])}}`),
  );
