import { type Static, Type } from 'typebox';
import { defaultLanguage, searchLanguage } from '#ast/languages.ts';
import { readQuestion, unfinishedAt } from '#ast/search.ts';
import type { FileLinks } from '#files/stored-files.ts';
import type { Database } from '#kit/database.ts';
import { jsonList, jsonText } from '#kit/http.ts';
import { mistakesBetween, mostMistakes } from '#kit/nearest.ts';
import { operation, type Scope } from '#kit/operation.ts';
import { endCut, pageParameters, readCut } from '#kit/pagination.ts';
import { requireRow } from '#kit/statement.ts';
import { type Hit, submissionTexts } from '#submissions/present.ts';
import { requireReach } from '#workspaces/authenticate.ts';
import { lookWindow } from './compile-question.ts';
import { openOptionLabels, placeHits, soughtBy, writtenWords } from './hits.ts';
import { submissionPage } from './list-endpoints.ts';
import { searchWindow, wordsAlone } from './question.ts';
import { readSubmissions } from './read-submissions.ts';
import { refuseUnsearchable } from './resolve-question.ts';
import { countMatches } from './search-page.ts';
import { listSearchedForms, suggest } from './suggest.ts';
import { type Found, type FoundSubmission, readSearchView, type View } from './view.ts';

/** So many letters a word has at least to be taken for another one that is written a little differently. */
const leastMistaken = 4;
/**
 * The word that is least different from the one that was asked for, among words that were written; of several the one that is
 * there most often. Undefined when all differ too much.
 */
export function nearestWord(asked: string, written: Iterable<string>): string | undefined {
  const most = mostMistakes(asked);
  const found = new Map<string, { mistakes: number; times: number }>();
  for (const word of written) {
    const known = found.get(word);
    if (known) known.times += 1;
    else if (Math.abs(word.length - asked.length) <= most && word !== asked)
      found.set(word, { mistakes: mistakesBetween(asked, word), times: 1 });
  }
  const near = [...found].filter(([, { mistakes }]) => mistakes <= most);
  return near.sort(([, a], [, b]) => a.mistakes - b.mistakes || b.times - a.times)[0]?.[0];
}

/** A word that nobody wrote, and the nearest that somebody did. */
type Correction = { from: string; to: string };

/** More words than this are not looked after: each is a few looks. */
const mostWords = 5;

/**
 * The question with each word that no submission has replaced by the nearest that one has: `jonh` by `john`. It is looked
 * for among words with the same beginning, but for its first two letters (docs/decisions/0082).
 */
async function correct(
  database: Database,
  reach: { workspace_id: string; form_ids: string[] | null },
  q: string,
): Promise<{ q: string; corrections: Correction[] } | undefined> {
  const words = readQuestion(q).parts.filter(
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
  const [{ total } = { total: 0 }] = await countMatches(database, { ...reach, ...wordsAlone, q });
  return total > 0;
}

async function findNearest(database: Database, reach: Reach, text: string): Promise<string | undefined> {
  const asked = text.toLowerCase();
  const half = asked.slice(0, Math.max(3, Math.ceil(asked.length / 2)));
  // The longer a beginning, the fewer submissions have it, and the further back these are looked for.
  const beginnings = [
    [half],
    [asked.slice(0, 2)],
    [`${asked[1]}${asked[0]}${asked[2]}`],
    // Where one letter may be wrong, the rest of the word is right.
    withAnotherLetter(mostMistakes(asked) === 1 ? asked : half),
  ];
  for (const among of beginnings) {
    const nearest = nearestWord(asked, await writtenWords(database, reach, among));
    if (nearest !== undefined) return nearest;
  }
  return undefined;
}

/** The first letter and the last of alphabets that lie together in Unicode. */
const alphabets = ['az', 'αω', 'ая', 'את', 'ءي'];

/** A beginning whose first letter or second is wrong, missing or too much: all that it may be, which the index has few of. */
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
      description: `More submissions have the words than are looked at for a phrase, an address or an element: the newest ${lookWindow.submissions}, as far as their answers are ${lookWindow.bytesOfWords} bytes. \`total_count\` counts among these.`,
    }),
    corrections: Type.Array(Type.Object({ from: Type.String(), to: Type.String() }), {
      description: 'Words that nobody wrote, and what was looked for instead, with `typos`.',
    }),
  },
  {
    description:
      'How the question was taken; there when it is more than words, and with `typos` where words were replaced.',
  },
);

/** A list's answer, and how the question was taken. */
const SearchPage = Type.Object({ ...submissionPage.properties, search: Type.Optional(Reading) });

const SuggestionList = Type.Object({
  begin: Type.Integer({
    description: 'What a suggestion takes the place of begins at this character, from 0.',
  }),
  end: Type.Integer({ description: 'And ends before this one.' }),
  data: Type.Array(
    Type.Object({
      kind: Type.Enum(['operator', 'element', 'word', 'form', 'status', 'tag']),
      text: Type.String({ description: 'What takes its place.' }),
      label: Type.String({ description: 'What it means to a person.' }),
    }),
  ),
});

type Searched = { view: View; found: Found<FoundSubmission> };

/** Full-text search. Specification, "Search rules"; docs/rules.md 11; docs/guides/search.md has the grammar. */
export function searchEndpoints({ database, links }: { database: Database; links: FileLinks }) {
  const optionLabels = openOptionLabels(database);
  return {
    searchSubmissions: operation({
      summary: 'Search submissions',
      description: `Across the workspace or one form, by relevance. Every word must be present, in any of its forms; words in the subject count most; equals come newest first. Any text is a valid question; the guide "Search" tells what phrases, \`-not\`, \`beginn*\` and operators such as \`email:\` and \`after:\` mean in it. The first ${searchWindow} can be paged through: \`total_count\` is exact below ${searchWindow}, and ${searchWindow} means that many or more.`,
      permission: 'submissions:read',
      example: { query: { q: 'stuck shuttle' } },
      query: Type.Object(
        {
          q: Type.String({ description: 'The words to look for.' }),
          ...formParameter,
          ...pageParameters,
          include: Type.Optional(
            Type.Enum(['hits'], { description: 'Where in each submission the words were found.' }),
          ),
          typos: Type.Optional(
            Type.Boolean({
              description:
                'When nothing is found: look for the nearest words that somebody wrote in place of those that nobody did, and say so in `search`.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      reply: {
        status: 200,
        description: 'A page of submissions, ordered by relevance.',
        schema: SearchPage,
      },
      async run({ workspaceId, formIds, query }) {
        const reach = await reachForms({ workspaceId, formIds }, query.form_id);
        const cut = readCut(query);
        const read = async (q: string): Promise<Searched> => {
          const view = await readSearchView(database, reach, q);
          return { view, found: await readSubmissions(database, view, cut) };
        };
        const first = await read(query.q);
        const mended =
          query.typos && first.found.total === 0 ? await correctly(reach, query.q, read) : undefined;
        const { view, found } = mended ?? first;
        const texts = await submissionTexts(found.rows, links);
        const data = query.include === 'hits' ? withHits(texts, await hitsOf(view, found)) : texts;
        const reading = { is_partial: found.isPartial ?? false, corrections: mended?.corrections ?? [] };
        return {
          json: jsonList<Static<typeof SearchPage>>(data, {
            ...endCut(cut, found.rows, found.total).ends,
            ...((!view.question?.isPlain || mended) && { search: reading }),
          }),
        };
      },
    }),

    suggestSearch: operation({
      summary: 'Suggest for a search',
      description:
        'What could be meant by what is being written in a question: operators, elements, forms, tags, and words of answers.',
      permission: 'submissions:read',
      example: { query: { q: 'stuck stat' } },
      query: Type.Object(
        {
          q: Type.String({ description: 'The question, as far as it is written.' }),
          at: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 1_024,
              description:
                'Behind this many of its characters something is being written; its end, when left out.',
            }),
          ),
          ...formParameter,
        },
        { additionalProperties: false },
      ),
      reply: { status: 200, description: 'The suggestions, the likeliest first.', schema: SuggestionList },
      async run({ workspaceId, formIds, query: { q, at = q.length, form_id } }) {
        refuseUnsearchable(q);
        const { formIds: form_ids } = await reachForms({ workspaceId, formIds }, form_id);
        const unfinished = unfinishedAt(q, Math.min(at, q.length));
        if (!unfinished) return { body: { begin: q.length, end: q.length, data: [] } };
        const { begin, end } = unfinished;
        const reach = { workspace_id: workspaceId, form_ids: form_ids && [...form_ids] };
        return { body: { begin, end, data: await suggest(database, reach, unfinished) } };
      },
    }),
  };

  /** @throws ApiError not_found for a form that is not there or out of reach. */
  async function reachForms(
    { workspaceId, formIds }: Pick<Scope, 'workspaceId' | 'formIds'>,
    formId: string | undefined,
  ): Promise<{ workspaceId: string; formIds: readonly string[] | null }> {
    if (formId === undefined) return { workspaceId, formIds };
    requireReach(formIds, formId);
    const id = formId.toLowerCase();
    requireRow(await listSearchedForms(database, { workspace_id: workspaceId, form_ids: [id] }));
    return { workspaceId, formIds: [id] };
  }

  /** The question without the words that nobody wrote, if it finds something then. */
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
    { rows }: Found<FoundSubmission>,
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
          ? (languages.get(row.form_id) ?? defaultLanguage)
          : searchLanguage({}, row.language),
      sayOption: labels(row.form_id),
    }));
    return placeHits(database, soughtBy(question), read);
  }
}

type Item = Static<typeof SearchPage>['data'][number];

const withHits = (texts: readonly string[], hits: readonly Hit[][]) =>
  texts.map((text, index) => jsonText<Item>(`${text.slice(0, -1)},"hits":${JSON.stringify(hits[index])}}`));
