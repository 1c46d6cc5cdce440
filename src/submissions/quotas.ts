import { isDeepStrictEqual } from 'node:util';
import { type AnswerError, toAnswerError } from '#ast/answers/check-answers.ts';
import { toAnswerProblem } from '#ast/answers/fill.ts';
import { memoizeByObject } from '#ast/basics/memoize.ts';
import { elementDefinitions } from '#ast/form/elements.ts';
import { type Form, type InputElement, isInput, optionsOf, walkElements } from '#ast/form/tree.ts';
import type { BrokenRule } from '#ast/rules/problem.ts';
import type { Settings } from '#ast/settings.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import { batchCalls } from '#kit/concurrency.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { minimumId } from '#kit/pagination.ts';
import { columns, jsonb, onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { lockFormForSubmit } from './submission-rows.ts';

/** The quotas of a form: elements whose answers are unique, and options with a capacity. */
type Quotas = {
  /** Inputs by element id. */
  readonly elements: ReadonlyMap<string, InputElement>;
  readonly unique: readonly { readonly element: string; readonly ignored: string }[];
  readonly options: readonly {
    readonly element: string;
    readonly option: string;
    readonly label: string;
    readonly capacity: number;
  }[];
};

/** Whether a submit to the form can exceed a quota. */
export function hasQuotas(form: Form): boolean {
  const { unique, options } = quotasOf(form);
  return unique.length > 0 || options.length > 0;
}

/** Returns a PostgreSQL pattern for the characters that comparisons ignore, in addition to case. */
const ignoredIn = ({ type }: InputElement): string => (type === 'phone' ? '[^0-9+]' : '\\s');

export const quotasOf = memoizeByObject((form: Form): Quotas => {
  const inputs = [...walkElements(form)].flatMap(({ element }) => (isInput(element) ? [element] : []));
  return {
    elements: new Map(inputs.map((input) => [input.attrs.id, input])),
    unique: inputs
      .filter(
        ({ type, attrs }) => 'unique' in elementDefinitions[type].attrs && 'unique' in attrs && attrs.unique,
      )
      .map((input) => ({ element: input.attrs.id, ignored: ignoredIn(input) })),
    options: inputs.flatMap((input) =>
      optionsOf(input).flatMap(({ id: option, label, capacity }) =>
        capacity === undefined ? [] : [{ element: input.attrs.id, option, label, capacity }],
      ),
    ),
  };
});

/** Selects the live version of a form. Its limits apply to every submission, whichever version it answers. */
export const findLiveVersion = statement('workspace_id form_id', [
  'version',
  { structure: effectiveFormColumn, settings: jsonb<Settings>() },
])`
  select v.version, v.structure, f.settings from forms f
  join form_versions v on v.workspace_id = f.workspace_id and v.form_id = f.id and v.version = f.version
  where f.workspace_id = $workspace_id and f.id = $form_id and f.deleted_at is null`;

/**
 * Acquires the shared form lock until the transaction ends. @returns the live version of the form; null if it
 * is deleted.
 */
export const shareFormLock = statement('workspace_id form_id', 'version?')`
  select live_version_in_turn($workspace_id, $form_id) as version`;

/** Selects the version for which the quotas were last counted. */
const findCountedVersion = statement('workspace_id form_id', 'version')`
  select version from taken_forms where workspace_id = $workspace_id and form_id = $form_id`;

const setCountedVersion = statement('workspace_id form_id version', '')`
  insert into taken_forms (workspace_id, form_id, version)
  select workspace_id, form_id, version from form_versions
  where workspace_id = $workspace_id and form_id = $form_id and version = $version
  on conflict (workspace_id, form_id) do update set version = excluded.version`;

const limits = columns('unique_elements:texts ignored:texts option_elements:texts options:texts');

/**
 * Records the quotas that the current answers of these submissions use, and frees those that they no longer
 * use. Unique answers are compared without ignored characters and without case. A waiting submission uses its
 * unique answers, and no option.
 * @param page selects the submissions, as `s`.
 */
const writeText = (page: string): string =>
  `with page as (
     select s.workspace_id, s.id, s.form_id, s.answers, s.status = 'completed' as is_completed,
       s.status <> 'incomplete' and s.trashed_at is null as counts
     from submissions s where s.workspace_id = $workspace_id and s.form_id = $form_id ${page}),
   answered as materialized (
     select page.workspace_id, page.id as submission_id, page.form_id, page.is_completed,
       answered.key as element_id, answered.value as answer
     from page cross join lateral json_each(page.answers) answered
     where page.counts and (answered.key = any ($unique_elements) or answered.key = any ($option_elements))),
   wanted as materialized (
     select a.workspace_id, a.submission_id, a.form_id, u.element_id,
       encode(sha256(convert_to(lower(regexp_replace(a.answer #>> '{}', u.ignored, '', 'g')), 'UTF8')), 'hex') as value
     from answered a join unnest($unique_elements, $ignored) u (element_id, ignored) on u.element_id = a.element_id
     where json_typeof(a.answer) in ('string', 'number')
     union all
     select a.workspace_id, a.submission_id, a.form_id, a.element_id, chosen.option
     from answered a
     join (
       select element_id, array_agg(option) as options from unnest($option_elements, $options) o (element_id, option)
       group by element_id) offered on offered.element_id = a.element_id
     cross join lateral json_array_elements_text(
       case when json_typeof(a.answer) = 'array' then a.answer else json_build_array(a.answer) end) chosen (option)
     where a.is_completed and chosen.option = any (offered.options)),
   freed as (
     delete from taken_answers t
     where t.workspace_id = $workspace_id and t.submission_id = any (array(select id from page)) and not exists (
       select from wanted w
       where w.submission_id = t.submission_id and w.element_id = t.element_id and w.value = t.value)),
   taken as (
     insert into taken_answers (workspace_id, submission_id, form_id, element_id, value)
     select workspace_id, submission_id, form_id, element_id, value from wanted
     on conflict do nothing
     returning element_id, value)`;

/** Counts the quotas of one submission. @returns the quotas that it newly uses. */
const countOne = statement(['workspace_id form_id id', limits], 'element_id value')`
  ${writeText('and s.id = $id')}
  select element_id, value from taken`;

/** Counts the quotas of a batch of submissions by id. @returns the size of the batch and its last id. */
const countMany = statement(['workspace_id form_id after limit', limits], 'id count')`
  ${writeText('and s.id > $after order by s.id limit $limit')}
  select id, (select count(*) from page) as count from page order by id desc limit 1`;

/** Selects the versions of a form from one version up to, but not including, another. */
const listVersionsBetween = statement('workspace_id form_id from:integer to:integer', {
  structure: effectiveFormColumn,
})`
  select structure from form_versions
  where workspace_id = $workspace_id and form_id = $form_id and version >= $from and version < $to`;

/** Counts the other submissions that use each of these values. */
const countOthers = statement('workspace_id form_id id elements values:texts', 'element_id value count')`
  select t.element_id, t.value, count(*) as count
  from unnest($elements, $values) requested (element_id, value)
  join taken_answers t on t.workspace_id = $workspace_id and t.form_id = $form_id
    and t.element_id = requested.element_id and t.value = requested.value
  where t.submission_id <> $id
  group by t.element_id, t.value`;

/** Counts the submissions that use each option of these elements. */
const countOptions = statement('workspace_id form_id elements', 'element_id option count')`
  select element_id, value as option, count(*) as count from taken_answers
  where workspace_id = $workspace_id and form_id = $form_id and element_id = any ($elements)
  group by element_id, value`;

/** The live version of a form, whose limits apply to every submission. */
export type QuotaForm = {
  readonly workspaceId: string;
  readonly id: string;
  readonly version: number;
  readonly form: Form;
};

/**
 * Thrown if another submission has the same unique answer, or the capacity of an option is used up. Nothing
 * is written.
 */
export class QuotaExceeded extends ApiError {
  readonly problems: readonly AnswerError[];

  constructor(problems: readonly AnswerError[]) {
    super('validation_error', undefined, { errors: [...problems] });
    this.problems = problems;
  }
}

/**
 * Locks a form that has quotas until the transaction ends, and returns its live version. For a form without
 * quotas it acquires the shared lock and returns undefined. A new version with quotas then waits for this
 * transaction, and so counts it. Call it before rows are locked, because a submit also locks its form first.
 */
export async function lockQuotas(
  db: Queryable,
  { workspaceId, formId }: { workspaceId: string; formId: string },
): Promise<QuotaForm | undefined> {
  const row = { workspace_id: workspaceId, form_id: formId };
  for (;;) {
    const live = onlyRow(await findLiveVersion(db, row));
    if (!live) return undefined;
    const { version, structure: form } = live;
    const limited = hasQuotas(form) ? { workspaceId, id: formId, version, form } : undefined;
    if (limited) await lockFormForSubmit(db, { form_id: formId });
    // Another version may have become live while this function waited for the lock.
    if (onlyRow(await shareFormLock(db, row))?.version !== version) continue;
    if (limited) await recountQuotas(db, limited);
    return limited;
  }
}

/**
 * Counts the quotas that a submission uses as it is stored now, and frees those that it used before. The
 * counts are exact even for parallel submits, because the caller's transaction has the form lock. A
 * submission keeps the quotas that it already uses, even if a newer limit is lower.
 * @throws QuotaExceeded if a newly used quota is used up. Roll the transaction back.
 */
export async function updateQuotaUse(db: Queryable, live: QuotaForm, id: string): Promise<void> {
  const limits = quotasOf(live.form);
  const used = await countOne(db, { ...rowOf(live), ...quotaColumns(limits), id });
  if (used.length === 0) return;
  const others = await countOthers(db, {
    ...rowOf(live),
    id,
    elements: used.map(({ element_id: element }) => element),
    values: used.map(({ value }) => value),
  });
  const problems = [...limits.elements].flatMap(([element, input]): AnswerError[] =>
    others
      .filter(({ element_id: id }) => id === element)
      .flatMap(({ value, count }) => brokenBy(limits, element, value, count) ?? [])
      .map((broken) => toAnswerError(live.form, { field: element, problem: toAnswerProblem(input, broken) })),
  );
  if (problems.length > 0) throw new QuotaExceeded(problems);
}

/** @param count the number of other submissions with this value. */
function brokenBy(
  { options }: Quotas,
  element: string,
  value: string,
  count: number,
): BrokenRule | undefined {
  const found = options.find((option) => option.element === element && option.option === value);
  if (!found) return { rule: 'taken' };
  return count < found.capacity ? undefined : { rule: 'full', values: { option: found.label } };
}

/** Turns QuotaExceeded into a conflict, for callers that cannot ask for another answer. */
export const throwQuotaConflict =
  (what: string) =>
  (error: unknown): never => {
    if (!(error instanceof QuotaExceeded)) throw error;
    const found = error.problems.map(({ message }) => message).join(' ');
    throw new ApiError('conflict', `${what}, because other submissions used up a quota. ${found}`);
  };

/** The remaining capacity by element and option. Options without a capacity are left out. */
export type RemainingQuotas = ReadonlyMap<string, ReadonlyMap<string, number>>;

export const noRemainingQuotas: RemainingQuotas = new Map();

/** For each database, the function that counts the remaining capacity of forms. */
const counters = new WeakMap<Database, (live: QuotaForm) => Promise<RemainingQuotas>>();

/**
 * Returns the remaining capacity of a form's options. Concurrent requests share one count, which takes about
 * 70 ms for 100,000 choices.
 */
export function findRemainingQuotas(database: Database, live: QuotaForm): Promise<RemainingQuotas> {
  if (quotasOf(live.form).options.length === 0) return Promise.resolve(noRemainingQuotas);
  const count =
    counters.get(database) ??
    batchCalls(
      async (requested: readonly QuotaForm[]) => {
        const forms = new Map(requested.map((form) => [form.id, form]));
        const found = [...forms].map(
          async ([id, form]) => [id, await countRemainingQuotas(database, form)] as const,
        );
        const places = new Map(await Promise.all(found));
        return requested.map(({ id }) => places.get(id) ?? noRemainingQuotas);
      },
      { most: 100, atOnce: 2 },
    );
  counters.set(database, count);
  return count(live);
}

async function countRemainingQuotas(database: Database, live: QuotaForm): Promise<RemainingQuotas> {
  const known = onlyRow(await findCountedVersion(database, rowOf(live)));
  if (known === undefined || known.version < live.version)
    await transaction(database, async (client) => {
      await lockFormForSubmit(client, { form_id: live.id });
      await recountQuotas(client, live);
    });
  return countLeft(database, live);
}

/** Counts the remaining capacity of a form's options, whose quotas are counted. */
export async function countLeft(db: Queryable, live: QuotaForm): Promise<RemainingQuotas> {
  const limits = quotasOf(live.form);
  if (limits.options.length === 0) return noRemainingQuotas;
  const elements = [...new Set(limits.options.map(({ element }) => element))];
  const counted = await countOptions(db, { ...rowOf(live), elements });
  const counts = new Map(counted.map(({ element_id, option, count }) => [keyOf(element_id, option), count]));
  const leftOf = Map.groupBy(limits.options, ({ element }) => element);
  return new Map(
    [...leftOf].map(([element, options]) => [
      element,
      new Map(
        options.map(({ option, capacity }) => [
          option,
          Math.max(0, capacity - (counts.get(keyOf(element, option)) ?? 0)),
        ]),
      ),
    ]),
  );
}

const keyOf = (element: string, option: string): string => JSON.stringify([element, option]);

/** The maximum number of submissions that one statement recounts, and of versions to compare. */
const batchSize = 5_000;
const mostVersions = 20;

/**
 * Recounts the quotas of all submissions if they differ from those of the last counted version. Does nothing
 * if the last counted version is newer. Call it under the form lock, before other writes: a quota that a
 * submission already uses is not refused.
 */
export async function recountQuotas(db: Queryable, live: QuotaForm): Promise<void> {
  const known = onlyRow(await findCountedVersion(db, rowOf(live)));
  if (known !== undefined && known.version >= live.version) return;
  const counted = quotaColumns(quotasOf(live.form));
  let isDone = known !== undefined && (await haveSameQuotas(db, live, known.version, counted));
  let after = minimumId;
  while (!isDone) {
    const last = onlyRow(await countMany(db, { ...rowOf(live), ...counted, after, limit: batchSize }));
    isDone = last === undefined || last.count < batchSize;
    after = last?.id ?? after;
  }
  await setCountedVersion(db, { ...rowOf(live), version: live.version });
}

/** Whether all versions from `from` to the live one have the same quotas. */
async function haveSameQuotas(
  db: Queryable,
  live: QuotaForm,
  from: number,
  counted: ReturnType<typeof quotaColumns>,
): Promise<boolean> {
  if (live.version - from > mostVersions) return false;
  const versions = await listVersionsBetween(db, { ...rowOf(live), from, to: live.version });
  return versions.every(({ structure }) => isDeepStrictEqual(quotaColumns(quotasOf(structure)), counted));
}

const rowOf = ({ workspaceId, id }: QuotaForm) => ({ workspace_id: workspaceId, form_id: id });

const quotaColumns = ({ unique, options }: Quotas) => ({
  unique_elements: unique.map(({ element }) => element),
  ignored: unique.map(({ ignored }) => ignored),
  option_elements: options.map(({ element }) => element),
  options: options.map(({ option }) => option),
});
