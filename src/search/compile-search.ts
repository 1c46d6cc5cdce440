import type { ParsedSearch, SearchOperatorName, SearchPart } from '#ast/search.ts';
import { greaterId, lesserId, maximumId, minimumId } from '#kit/pagination.ts';
import { columns } from '#kit/statement.ts';
import { inflections, partOfCompound } from '#submissions/search-text/language-words.ts';
import { digitRuns, foldSql, foldText, readDigits } from '#submissions/search-text/spellings.ts';
import { tokensOf } from '#submissions/search-text/tokens.ts';
import { searchMarks } from '#submissions/submission-record.ts';
import type { SubmissionStatus } from '#submissions/submission-rows.ts';
import { leastIdCreatedAt } from './filter/read-filter.ts';
import { type SoughtWords, WordCompiler } from './search-words.ts';

/**
 * Limits of the checks that read each matching submission, because the index cannot decide them: the newest
 * 1,000, up to a number of stored bytes. Stemming 1,000 bytes takes 75 µs, finding an address in them 5 µs,
 * and reading a submission 4 µs (docs/decisions/0082).
 */
export const searchCheckLimits = {
  submissions: 1_000,
  bytesOfWords: 150_000,
  bytesOfAddresses: 2_000_000,
} as const;

/**
 * A check of the submission itself, for conditions that the index cannot decide. Each check has an element
 * ('': all answers), a row of it ('': all rows), a text, and a JSON list of values. It also passes if the
 * answer is one of these values or, without an element, if one of these options (MatchingOption) is chosen.
 * - `phrase`: the words of the text, in this order, in one answer; `words`: in any order; `address`: the text
 * is a pattern
 * - `not_…`: the negation of each
 */
type CheckKind = 'phrase' | 'words' | 'address' | 'not_phrase' | 'not_words' | 'not_address';

export const searchCheckParameters = columns(
  'check_kinds:texts check_elements:texts check_rows:texts check_texts:texts',
  'check_values:texts check_parts:texts check_compounds:texts',
);

/**
 * For statements with searchCheckParameters. A text without indexable words in any language of the workspace
 * checks nothing, unless it has values or a part.
 */
export const searchChecksSql = `
  checks as materialized (
    select place, kind like 'not%' as is_not, kind like '%address' as is_address, kind like '%phrase' as is_phrase, element,
           row_id, written, value::jsonb as values, config as language, query, part,
           case when language = 'german'::regconfig then compound else '' end as compound
    from unnest($check_kinds, $check_elements, $check_rows, $check_texts, $check_values, $check_parts, $check_compounds)
      with ordinality as input (kind, element, row_id, written, value, part, compound, place)
    cross join lateral (
      select language::regconfig as language from search_languages where workspace_id = $workspace_id) languages
    cross join lateral (
      -- A text of words that the language leaves out is compared literally.
      select config, case when kind like '%phrase' then phraseto_tsquery(config, written) else plainto_tsquery(config, written) end as query
      from (select case when numnode(plainto_tsquery(language, written)) = 0 then 'simple' else language end as config) configs) queries
    where numnode(query) > 0 or value <> '[]' or part <> '')`;

/** Whether the submission `p` passes all checks. */
export const passesSearchChecksSql = `not exists (
  select from checks c
  cross join lateral (
    select case c.row_id when '' then p.answers -> c.element else p.answers -> c.element -> c.row_id end as answer
    where c.element <> ''
    union all
    select json_build_array(p.answers, p.reference) where c.element = '') answers
  cross join lateral (
    select p.answers::text ~* c.written as is_met where c.is_address
    union all
    select exists (
        select from (
          -- A phrase is in one answer; words can be in several.
          select string_agg(value #>> '{}', ' ') as text
          from jsonb_path_query(answers.answer::jsonb, 'strict $.**') with ordinality as given (value, at)
          where jsonb_typeof(value) in ('string', 'number') group by case when c.is_phrase then at end) texts
        cross join lateral (select ${foldSql('text')} as folded offset 0) compared
        where to_tsvector(c.language, folded) @@ c.query
           or c.part <> '' and strpos(replace(folded, ' ', ''), c.part) > 0
           or c.compound <> '' and folded ~ c.compound)
        or exists (
          select from jsonb_array_elements(c.values) as value
          where case when c.element = '' then
            (value ->> 'form')::uuid = p.form_id and jsonb_path_exists(
              p.answers::jsonb, '$.** ? (@.type() == "object").keyvalue() ? (@.key == $ELEMENT).value.** ? (@ == $ID)',
              jsonb_build_object('ELEMENT', value -> 'element', 'ID', value -> 'id'))
          else answers.answer::jsonb @> value
            -- In a matrix, any row can match.
            or json_typeof(answers.answer) = 'object' and jsonb_path_query_array(answers.answer::jsonb, '$.*[*]') @> value end)
    where not c.is_address) looked
  group by c.place, c.is_not
  having bool_or(looked.is_met) = c.is_not)`;

/** Whether a term must be present or not. `waiting_or_not_mark`: not, unless the submission is waiting. */
type MarkKind = 'mark' | 'not_mark' | 'waiting_or_not_mark';

/** A query as parameters of statements, with the forms that it names. */
export type CompiledSearch = {
  /** Whether the query has only words. It is then used as entered. */
  isPlain: boolean;
  /** Whether the query needs the word index. */
  hasWords: boolean;
  /** Whether another index answers the query alone: the index of forms, statuses, times or one tag. */
  isList: boolean;
  /** Whether each submission that the word index finds must also be checked. */
  isChecked: boolean;
  index: SoughtWords & { is_spelled: boolean; mark_kinds: MarkKind[]; mark_texts: string[] };
  checks: {
    check_kinds: CheckKind[];
    check_elements: string[];
    check_rows: string[];
    check_texts: string[];
    check_values: string[];
    /** Found without spaces: a run of a script without spaces, or the digits of a phone number. */
    check_parts: string[];
    /** Patterns (PostgreSQL) of German compounds. */
    check_compounds: string[];
  };
  span: { from_id: string; to_id: string };
  /** Used for lists only; the word index finds status and tag by their terms. */
  status: SubmissionStatus | null;
  tag: string | null;
  /** The forms as the query names them, each with its position. */
  forms: { text: string; isNot: boolean; begin: number }[];
};

/**
 * Returns whether a form has the element as a yes-or-no question, and its options whose label differs from
 * the stored answer. Returns undefined if no form has the element.
 */
export type FindKnownElement = (
  element: string,
) => { isBoolean: boolean; options: readonly { id: string; label: string }[] } | undefined;

const truths: Readonly<Record<string, boolean>> = { yes: true, true: true, no: false, false: false };

/** An option whose label contains a phrase. `id` is its stored value. */
export type MatchingOption = { form: string; element: string; id: string };

/** Whether a text is only one number, perhaps in groups. */
const isNumber = (text: string): boolean => digitRuns(text)[0]?.text.length === text.trim().length;

/**
 * Whether the index decides a phrase: it keeps the order of words that only punctuation joins, and of digits.
 */
const isOneWord = (text: string): boolean => tokensOf(text).length <= 1 || isNumber(text);

/** Returns how a text is compared with answers. */
function readCheckedText(text: string): { text: string; part: string; compound: string } {
  const segments = tokensOf(text).flat();
  const words = segments.map(({ word }) => foldText(word));
  const part = isNumber(text)
    ? readDigits(text.trim()).national
    : segments.some(({ isSpaceless }) => isSpaceless)
      ? words.join('')
      : '';
  const inside = words.length === 1 ? partOfCompound(words[0]!) : '';
  const compound = inside === '' ? '' : String.raw`\m${inside}|${inside}(?:${inflections.join('|')})?\M`;
  return { text: words.join(' '), part, compound };
}

/** Returns the phrases of a query that can be in any answer. */
export const phrasesIn = ({ parts }: ParsedSearch): string[] =>
  parts.flatMap((part) => (part.kind === 'phrase' && !isOneWord(part.text) ? [part.text] : []));

/**
 * Compiles a parsed query for the statements.
 * @param known looks up an element by its id; a name that no form has is searched as a word.
 * @param findOptions returns the options whose label contains a phrase.
 */
export function compileSearch(
  { parts }: ParsedSearch,
  sent: string,
  known: FindKnownElement,
  findOptions: (phrase: string) => readonly MatchingOption[] = () => [],
): CompiledSearch {
  const compiler = new WordCompiler();
  const typed: string[] = [];
  const search: CompiledSearch = {
    isPlain: true,
    hasWords: false,
    isList: false,
    isChecked: false,
    index: { ...compiler.words, is_spelled: false, mark_kinds: [], mark_texts: [] },
    checks: {
      check_kinds: [],
      check_elements: [],
      check_rows: [],
      check_texts: [],
      check_values: [],
      check_parts: [],
      check_compounds: [],
    },
    span: { from_id: minimumId, to_id: maximumId },
    status: null,
    tag: null,
    forms: [],
  };
  const { index, checks, span } = search;
  let tags = 0;
  let excludesStatus = false;
  const addMark = (kind: MarkKind, text: string): void => {
    index.mark_kinds.push(kind);
    index.mark_texts.push(text);
  };
  const mark = (text: string, isNot: boolean): void => addMark(isNot ? 'not_mark' : 'mark', text);
  const check = (
    kind: 'phrase' | 'words' | 'address',
    isNot: boolean,
    {
      text,
      element = '',
      row = '',
      values = [],
    }: {
      text: string;
      element?: string;
      row?: string;
      values?: readonly (string | boolean | MatchingOption)[];
    },
  ): void => {
    checks.check_kinds.push(isNot ? `not_${kind}` : kind);
    checks.check_elements.push(element);
    checks.check_rows.push(row);
    const checked = kind === 'address' ? { text, part: '', compound: '' } : readCheckedText(text);
    checks.check_texts.push(checked.text);
    checks.check_parts.push(checked.part);
    checks.check_compounds.push(kind === 'words' ? checked.compound : '');
    checks.check_values.push(JSON.stringify(values));
  };
  const operate: Readonly<Record<SearchOperatorName, (text: string, isNot: boolean, begin: number) => void>> =
    {
      email(text, isNot) {
        if (!isNot) compiler.addAddress(text.replace(/^@/, ''));
        check('address', isNot, { text: addressPattern(text) });
      },
      form: (text, isNot, begin) => search.forms.push({ text, isNot, begin }),
      status(text, isNot) {
        const status = text as SubmissionStatus;
        if (isNot) excludesStatus = true;
        else if ((search.status ??= status) !== status) span.to_id = span.from_id = maximumId;
        if (status === 'completed') mark(searchMarks.notCompleted, !isNot);
        else if (status === 'waiting') mark(searchMarks.waiting, isNot);
        else if (isNot) addMark('waiting_or_not_mark', searchMarks.notCompleted);
        else {
          mark(searchMarks.notCompleted, false);
          mark(searchMarks.waiting, true);
        }
      },
      before: (text, isNot) => (isNot ? from(text) : to(text)),
      after: (text, isNot) => (isNot ? to(text) : from(text)),
      tag(text, isNot) {
        if (!isNot) search.tag = text;
        tags += 1;
        mark(`${searchMarks.tag}${text}`, isNot);
      },
    };
  const from = (text: string): void => {
    span.from_id = greaterId(span.from_id, leastIdCreatedAt(text));
  };
  const to = (text: string): void => {
    span.to_id = lesserId(span.to_id, leastIdCreatedAt(text));
  };

  const read = (part: SearchPart): void => {
    const { text, isNot, begin, end } = part;
    const element = part.kind === 'field' ? known(part.name) : undefined;
    if (part.kind === 'operator') return operate[part.name](text, isNot, begin);
    if (part.kind === 'beginning') return compiler.addBeginnings(text, { isNot });
    if (part.kind === 'field' && element) {
      const truth = element.isBoolean ? truths[text.toLowerCase()] : undefined;
      // The index does not contain yes and no as words.
      if (!isNot && truth === undefined) compiler.addText(text, { isQuoted: part.isPhrase });
      const chosen = element.options.filter(({ label }) => foldText(label).includes(foldText(text)));
      const values = truth === undefined ? chosen.map(({ id }) => id) : [truth];
      return check(part.isPhrase ? 'phrase' : 'words', isNot, {
        text,
        element: part.name,
        row: part.row,
        values,
      });
    }
    const written = part.kind === 'phrase' ? text : sent.slice(begin + Number(isNot), end);
    const isOne = part.kind !== 'phrase' || isOneWord(text);
    if (isNot && isOne) return compiler.addText(written, { isQuoted: part.kind === 'phrase', isNot });
    if (!isNot && part.kind === 'phrase') compiler.addText(written, { isQuoted: true });
    else if (!isNot) typed.push(written);
    if (!isOne) check('phrase', isNot, { text, values: findOptions(text) });
  };
  for (const part of parts) read(part);
  compiler.addText(typed.join(' '));
  compiler.finish();
  index.is_spelled = compiler.isSpelled;

  search.isPlain = parts.every(
    (part) => !part.isNot && (part.kind === 'word' || (part.kind === 'field' && !known(part.name))),
  );
  search.hasWords = compiler.hasWords;
  search.isList =
    !search.isPlain &&
    !search.hasWords &&
    index.word_groups.length === 0 &&
    checks.check_kinds.length === 0 &&
    tags <= Number(search.tag !== null) &&
    !excludesStatus;
  search.isChecked = checks.check_kinds.length > 0;
  return search;
}

/**
 * Returns the pattern that finds an email address in the JSON of answers: by the whole address, by the part
 * before the @, or by consecutive parts of its domain.
 */
function addressPattern(text: string): string {
  const literal = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const domain = String.raw`@([\w-]+\.)*${literal.replace(/^@/, '')}(?![\w-])`;
  if (text.startsWith('@')) return domain;
  // In JSON, a line break before the address is written as \n.
  const begun = String.raw`(?:(?<![\w.+-])|\\[nrt])${literal}`;
  return text.includes('@') ? String.raw`${begun}(?![\w-])` : `(?:${begun}@|${domain})`;
}
