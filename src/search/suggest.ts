import {
  findOperatorsByPrefix,
  minPrefixLength,
  quoteValue,
  searchOperators,
  type UnfinishedSearchPart,
} from '#ast/search.ts';
import type { Database } from '#kit/database.ts';
import { sessionSchemaSql } from '#kit/migrate.ts';
import { statement } from '#kit/statement.ts';
import { submissionStatuses } from '#submissions/present.ts';
import { foldText } from '#submissions/search-text/spellings.ts';
import { findWordsBeginningWith } from './hits.ts';

/**
 * Moves the pending list of the index into the index. The server does this twice a second while the list is
 * not empty. This way visitors' inserts do not have to do it, and searches do not read a long list
 * (docs/rules.md 11).
 */
export const cleanPendingList = statement('', 'pages:bigint')`
  -- Finds the index by its name, which ends in a number on the nodes of a cluster.
  select coalesce(sum(gin_clean_pending_list(oid)), 0)::bigint as pages from pg_class
   where relnamespace = ${sessionSchemaSql} and relkind = 'i' and relname ~ '^search_documents_terms(_[0-9]+)?$'`;

/** Selects the accessible forms with name, version and language. */
export const listSearchedForms = statement('workspace_id form_ids?', 'id name version language?')`
  select id, name, version, settings ->> 'language' as language from forms
  where workspace_id = $workspace_id and deleted_at is null and ($form_ids is null or id = any ($form_ids))`;

/**
 * Selects elements of the 200 newest accessible forms whose id has this beginning, each with one of its
 * labels.
 */
const listElementsCalled = statement('workspace_id form_ids? beginning limit', 'id:text label')`
  select id, max(label) as label from (
    select field.key as id, field.value ->> 'label' as label
    from (
      select workspace_id, id, version from forms
      where workspace_id = $workspace_id and deleted_at is null and ($form_ids is null or id = any ($form_ids))
      order by id desc limit 200) f
    join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
    cross join json_each(v.fields) as field
    where starts_with(lower(field.key), lower($beginning))) named
  group by id order by id limit $limit`;

/** Selects tags with this beginning, most used first. */
const listTagsCalled = statement('workspace_id form_ids beginning limit', 'tag')`
  select tag from submissions s cross join unnest(s.tags) as tag
  where s.workspace_id = $workspace_id and s.tags <> '{}' and s.trashed_at is null
    and s.form_id = any ($form_ids) and starts_with(lower(tag), lower($beginning))
  group by tag order by count(*) desc, tag limit $limit`;

/** The maximum number of suggestions of each kind. */
const mostOfKind = 6;

/**
 * A suggestion that replaces the unfinished part of a query.
 * - `text`: the replacement; `label`: its human-readable description
 */
export type Suggestion = {
  kind: 'operator' | 'element' | 'word' | 'form' | 'status' | 'tag';
  text: string;
  label: string;
};

type Reach = { workspace_id: string; form_ids: string[] | null };

/**
 * Suggests completions: after an operator or element name its values; otherwise operators, elements and words
 * with this beginning.
 */
export async function suggestCompletions(
  database: Database,
  reach: Reach,
  { name, text }: UnfinishedSearchPart,
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
    // Dates have no suggestions.
    case 'before':
    case 'after':
      return [];
    default:
      return suggestWords(database, reach, text);
  }
}

async function suggestNames(database: Database, reach: Reach, text: string): Promise<Suggestion[]> {
  const found = findOperatorsByPrefix(text).map(
    (name): Suggestion => ({ kind: 'operator', text: `${name}:`, label: searchOperators[name].takes }),
  );
  const elements = await listElementsCalled(database, { ...reach, beginning: text, limit: mostOfKind });
  return [
    ...found,
    ...elements
      .filter(({ id }) => !Object.hasOwn(searchOperators, id))
      .map(({ id, label }): Suggestion => ({ kind: 'element', text: `${id}:`, label })),
  ];
}

async function suggestWords(database: Database, reach: Reach, text: string): Promise<Suggestion[]> {
  const beginning = text.toLowerCase();
  if (beginning.length < minPrefixLength || !/^[\p{L}\p{N}]+$/u.test(beginning)) return [];
  const times = Map.groupBy(await findWordsBeginningWith(database, reach, [beginning]), (word) => word);
  return [...times]
    .filter(([word]) => word !== beginning)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, mostOfKind)
    .map(([word]) => ({ kind: 'word', text: word, label: word }));
}

async function suggestForms(database: Database, reach: Reach, text: string): Promise<Suggestion[]> {
  const forms = await listSearchedForms(database, reach);
  const sought = foldText(text);
  const names = new Set(forms.map((form) => form.name).filter((name) => foldText(name).includes(sought)));
  return [...names]
    .slice(0, mostOfKind)
    .map((name) => ({ kind: 'form', text: quoteValue(name), label: name }));
}

async function suggestTags(database: Database, reach: Reach, text: string): Promise<Suggestion[]> {
  const form_ids = reach.form_ids ?? (await listSearchedForms(database, reach)).map(({ id }) => id);
  const found = await listTagsCalled(database, { ...reach, form_ids, beginning: text, limit: mostOfKind });
  return found.map(({ tag }) => ({ kind: 'tag', text: quoteValue(tag), label: tag }));
}
