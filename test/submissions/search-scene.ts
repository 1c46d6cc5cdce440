import type { Database } from '#kit/database.ts';
import { readPageRequest } from '#kit/pagination.ts';
import { hitTermsOf } from '#search/find-hits.ts';
import { locateHits } from '#search/hits.ts';
import { readSubmissions } from '#search/read-submissions.ts';
import { readSearchView } from '#search/view.ts';
import { element } from '../ast/forms.ts';
import { openScene } from './scene.ts';

/** A form with a subject and a text, for tests of the search. `formLanguage` is the setting `language`. */
export async function openSearchScene(
  database: Database,
  formLanguage?: string,
  beside?: { readonly workspaceId: string },
) {
  const elements = [element('text', 'subject'), element('textarea', 'text'), element('phone', 'phone')];
  const scene = await openScene(
    database,
    elements,
    formLanguage === undefined ? {} : { language: formLanguage },
    beside,
  );
  const read = async (q: string, perPage: number) => {
    const view = await readSearchView(database, { workspaceId: scene.workspaceId, formIds: null }, q);
    const found = await readSubmissions(database, view, readPageRequest({ per_page: perPage }));
    return { view, found };
  };
  return {
    ...scene,
    /** Returns the ids of the first results. */
    async find(q: string, perPage = 100): Promise<string[]> {
      return (await read(q, perPage)).found.rows.map(({ id }) => id);
    },
    /** Returns the marked words of the first result. */
    async hits(q: string): Promise<string[]> {
      const { view, found } = await read(q, 1);
      if (!view.question) return [];
      const row = { ...found.rows[0]!, language: formLanguage ?? 'english', findLabel: undefined };
      const [hits = []] = await locateHits(database, hitTermsOf(view.question), [row]);
      return hits.flatMap(({ words }) => words);
    },
  };
}
