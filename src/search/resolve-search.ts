import { inputRules, isInputType } from '#ast/form/input-rules.ts';
import { type ParsedSearch, parseSearch, type SearchPart } from '#ast/search.ts';
import { type AnswerKind, isChoiceKind } from '#ast/types/rules.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { statement } from '#kit/statement.ts';
import { foldSql, foldText } from '#submissions/search-text/spellings.ts';
import {
  type CompiledSearch,
  compileSearch,
  type FindKnownElement,
  type MatchingOption,
  phrasesIn,
} from './compile-search.ts';
import { listLabelledOptions } from './hits.ts';
import { listSearchedForms } from './suggest.ts';

/**
 * Selects the current and earlier types of the elements with these ids, in any version of the accessible
 * forms.
 */
const listNamedTypes = statement('workspace_id form_ids? elements', 'element type:text')`
  select distinct named.id as element, named.type
  from forms f
  join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id
  cross join lateral (
    select id, v.fields -> id ->> 'type' as type from unnest($elements) as id
    where strpos(v.fields::text, '"' || id || '"') > 0 offset 0) named
  where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))
    and named.type is not null`;

/**
 * Selects options whose label, in any language of the live version, may contain one of the folded texts. Forms
 * in ASCII are parsed only if they contain one; folding others as a whole would take longer than parsing them.
 */
const listMatchingOptions = statement('workspace_id form_ids? texts', 'form_id element id:text label')`
  select f.id as form_id, asking.attrs ->> 'id' as element, option ->> 'id' as id, named.label
  from forms f
  join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
    and (octet_length(v.structure::text) > length(v.structure::text) or exists (
      select from unnest($texts) as sought
      where strpos(lower(v.structure::text), trim('"' from to_json(sought)::text)) > 0))
  cross join jsonb_path_query(v.structure::jsonb, 'strict $.**.attrs ? (exists (@.options[*].label))') as asking (attrs)
  cross join jsonb_array_elements(asking.attrs -> 'options') as option
  cross join lateral (
    select option ->> 'label' as label
    union
    select translation.texts -> 'options' ->> (option ->> 'id')
    from jsonb_each(coalesce(asking.attrs -> 'translations', '{}')) as translation (language, texts)) named
  cross join lateral (select ${foldSql('named.label')} as label offset 0) folded
  where f.workspace_id = $workspace_id and f.deleted_at is null and ($form_ids is null or f.id = any ($form_ids))
    and option ->> 'label' is not null
    and exists (select from unnest($texts) as sought where strpos(folded.label, ${foldSql('sought')}) > 0)`;

/** The maximum length of `q`: 1 KB of UTF-8 (docs/rules.md 13). */
const queryBytes = 1024;

/** A query with the accessible forms that it is limited to; null for all forms of the workspace. */
export type ResolvedSearch = CompiledSearch & { form_ids: string[] | null };

/**
 * Parses a query for the statements.
 * @throws ApiError bad_request for a query that is empty, too long, has too many parts or cannot be stored as
 * text in PostgreSQL.
 */
export async function resolveSearch(
  database: Database,
  { workspaceId, formIds }: { workspaceId: string; formIds: readonly string[] | null },
  q: string,
): Promise<ResolvedSearch> {
  refuseUnsearchable(q);
  const sent = parseSearch(q);
  const problems = sent.problems.map(({ message }) => message);
  if (problems.length > 0) throw refuse(problems);
  const reach = { workspace_id: workspaceId, form_ids: formIds && [...formIds] };
  const isNamed = sent.parts.some((part) => part.kind === 'operator' && part.name === 'form');
  const forms = isNamed ? await listSearchedForms(database, reach) : undefined;
  const named = await readNamed(database, reach, sent);
  const question = {
    ...sent,
    parts: sent.parts.map((part) => named.resolve(forms ? withoutUnknownForm(part, q, forms) : part)),
  };
  const findOptions = await readMatchingOptions(database, reach, phrasesIn(question));
  const search = compileSearch(question, q, named.known, findOptions);
  const needsForms = search.forms.length > 0 || !(search.hasWords || search.isList || search.isPlain);
  if (!needsForms) return { ...search, form_ids: reach.form_ids };
  return {
    ...search,
    form_ids: chooseForms(forms ?? (await listSearchedForms(database, reach)), search.forms),
  };
}

const kindOf = (type: string): AnswerKind | undefined =>
  isInputType(type) ? inputRules[type].kind : undefined;

/** Finds the options whose label contains a phrase, in any language of the live version. */
async function readMatchingOptions(
  database: Database,
  reach: { workspace_id: string; form_ids: string[] | null },
  phrases: string[],
): Promise<(phrase: string) => MatchingOption[]> {
  if (phrases.length === 0) return () => [];
  const rows = await listMatchingOptions(database, { ...reach, texts: phrases.map(foldText) });
  return (phrase) =>
    rows.flatMap(({ form_id: form, element, id, label }) =>
      foldText(label).includes(foldText(phrase)) ? [{ form, element, id }] : [],
    );
}

type NamedForm = { readonly id: string; readonly name: string };

/** Treats `form:` as text if no accessible form has this name. */
function withoutUnknownForm(part: SearchPart, q: string, forms: readonly NamedForm[]): SearchPart {
  if (part.kind !== 'operator' || part.name !== 'form' || formsCalled(forms, part.text).length > 0)
    return part;
  const { begin, end, isNot } = part;
  return { begin, end, isNot, kind: 'word', text: q.slice(begin + Number(isNot), end) };
}

/** Returns the ids that `a:b:c` may begin with, longest first, because an id may contain colons. */
const namesIn = (name: string): string[] =>
  name.split(':').map((_part, index, parts) => parts.slice(0, parts.length - index).join(':'));

type Named = {
  readonly known: FindKnownElement;
  /** Replaces the name of a part with the longest id that a form has. */
  readonly resolve: (part: SearchPart) => SearchPart;
};

/** Reads what the forms contain about the elements named in a query. */
async function readNamed(
  database: Database,
  reach: { workspace_id: string; form_ids: string[] | null },
  { parts }: ParsedSearch,
): Promise<Named> {
  const elements = [...new Set(parts.flatMap((part) => (part.kind === 'field' ? namesIn(part.name) : [])))];
  if (elements.length === 0) return { known: () => undefined, resolve: (part) => part };
  const rows = await listNamedTypes(database, { ...reach, elements });
  const chosen = rows.flatMap(({ element, type }) => {
    const kind = kindOf(type);
    return kind && isChoiceKind(kind) ? [element] : [];
  });
  const options =
    chosen.length === 0 ? [] : await listLabelledOptions(database, { ...reach, elements: chosen });
  const typesOf = Map.groupBy(rows, ({ element }) => element);
  return {
    known(element) {
      const types = typesOf.get(element);
      return (
        types && {
          isBoolean: types.some(({ type }) => kindOf(type) === 'boolean'),
          options: options.filter((option) => option.element === element),
        }
      );
    },
    resolve(part) {
      if (part.kind !== 'field') return part;
      const name = namesIn(part.name).find((each) => typesOf.has(each));
      if (name === undefined || name === part.name) return part;
      return { ...part, name, text: `${part.name.slice(name.length + 1)}:${part.text}` };
    },
  };
}

/** Returns the named forms without the excluded ones. If no form is named, all forms count as named. */
function chooseForms(forms: readonly NamedForm[], named: CompiledSearch['forms']): string[] {
  const [wanted, unwanted] = [new Set<string>(), new Set<string>()];
  for (const { text, isNot } of named)
    for (const { id } of formsCalled(forms, text)) (isNot ? unwanted : wanted).add(id);
  return forms.map(({ id }) => id).filter((id) => (wanted.size === 0 || wanted.has(id)) && !unwanted.has(id));
}

/**
 * Returns the form with this id. If there is none, returns the forms with this name, or else the forms whose
 * name contains it.
 */
function formsCalled(forms: readonly NamedForm[], text: string): NamedForm[] {
  const one = forms.filter(({ id }) => id === text.toLowerCase());
  if (one.length > 0) return one;
  const sought = foldText(text);
  const same = forms.filter(({ name }) => foldText(name) === sought);
  return same.length > 0 ? same : forms.filter(({ name }) => foldText(name).includes(sought));
}

const refuse = (problems: readonly string[]): ApiError =>
  new ApiError('bad_request', problems[0], { errors: problems.map((message) => ({ field: 'q', message })) });

/**
 * @throws ApiError bad_request for a query that is empty, too long or cannot be stored as text in PostgreSQL.
 */
export function refuseUnsearchable(q: string): void {
  const problem =
    q.trim() === ''
      ? '"q" must not be empty.'
      : Buffer.byteLength(q) > queryBytes
        ? `"q" must be at most ${queryBytes} bytes long.`
        : q.includes('\u0000') || !q.isWellFormed()
          ? '"q" must not contain a NUL character or an unpaired surrogate.'
          : undefined;
  if (problem) throw refuse([problem]);
}
