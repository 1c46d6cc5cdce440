import { operatorsCalled, quoteValue, type Unfinished } from '#ast/search/complete.ts';
import { leastBeginning, operators } from '#ast/search/read-question.ts';
import type { Database } from '#kit/database.ts';
import { submissionStatuses } from '#submissions/queries.ts';
import { listElementsCalled, listSearchedForms, listTagsCalled } from './queries.ts';
import { writtenWords } from './written-words.ts';

/** So many of each kind are suggested. */
const mostOfKind = 6;

/**
 * Something that may be written in place of what is unfinished.
 * - `text`: what takes its place; `label`: what it is for a person, where the text does not say it
 */
export type Suggestion = {
  kind: 'operator' | 'element' | 'word' | 'form' | 'status' | 'tag';
  text: string;
  label: string;
};

type Reach = { workspace_id: string; form_ids: string[] | null };

/** What could be meant: behind a name what it takes, else operators, elements and words that begin so. */
export async function suggest(
  database: Database,
  reach: Reach,
  { name, text }: Unfinished,
): Promise<Suggestion[]> {
  switch (name) {
    case undefined:
      return (
        await Promise.all([suggestNames(database, reach, text), suggestWords(database, reach, text)])
      ).flat();
    case 'status':
      return submissionStatuses
        .filter((status) => status.startsWith(text.toLowerCase()))
        .map((status) => ({ kind: 'status', text: status, label: status }));
    case 'form':
      return suggestForms(database, reach, text);
    case 'tag':
      return suggestTags(database, reach, text);
    // A day is written by whoever knows which.
    case 'before':
    case 'after':
      return [];
    default:
      return suggestWords(database, reach, text);
  }
}

async function suggestNames(database: Database, reach: Reach, text: string): Promise<Suggestion[]> {
  const found = operatorsCalled(text).map(
    (name): Suggestion => ({ kind: 'operator', text: `${name}:`, label: operators[name].takes }),
  );
  const elements = await listElementsCalled(database, { ...reach, beginning: text, limit: mostOfKind });
  return [
    ...found,
    ...elements
      .filter(({ id }) => !Object.hasOwn(operators, id))
      .map(({ id, label }): Suggestion => ({ kind: 'element', text: `${id}:`, label })),
  ];
}

async function suggestWords(database: Database, reach: Reach, text: string): Promise<Suggestion[]> {
  const beginning = text.toLowerCase();
  if (beginning.length < leastBeginning || !/^[\p{L}\p{N}]+$/u.test(beginning)) return [];
  const times = Map.groupBy(await writtenWords(database, reach, [beginning]), (word) => word);
  return [...times]
    .filter(([word]) => word !== beginning)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, mostOfKind)
    .map(([word]) => ({ kind: 'word', text: word, label: word }));
}

async function suggestForms(database: Database, reach: Reach, text: string): Promise<Suggestion[]> {
  const forms = await listSearchedForms(database, reach);
  const asked = text.toLowerCase();
  const names = new Set(forms.map((form) => form.name).filter((name) => name.toLowerCase().includes(asked)));
  return [...names]
    .slice(0, mostOfKind)
    .map((name) => ({ kind: 'form', text: quoteValue(name), label: name }));
}

async function suggestTags(database: Database, reach: Reach, text: string): Promise<Suggestion[]> {
  const form_ids = reach.form_ids ?? (await listSearchedForms(database, reach)).map(({ id }) => id);
  const found = await listTagsCalled(database, { ...reach, form_ids, beginning: text, limit: mostOfKind });
  return found.map(({ tag }) => ({ kind: 'tag', text: quoteValue(tag), label: tag }));
}
