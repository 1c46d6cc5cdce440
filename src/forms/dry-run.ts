import { formatCount } from '#ast/basics/format-number.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import type { ChoiceOption } from '#ast/basics/options.ts';
import { quote } from '#ast/basics/problems.ts';
import { effectiveForm } from '#ast/form/effective-form.ts';
import {
  type Form,
  isComposite,
  isInput,
  isRepeatable,
  listQuestions,
  matrixRowsOf,
  optionsOf,
  walkElements,
} from '#ast/form/tree.ts';
import type { RequestScope } from '#kit/operation.ts';
import { type Queryable, statement } from '#kit/statement.ts';
import { compareForms, type ComparedNode as FormPart } from '#rules/compare-forms.ts';
import type { Permission } from '#rules/permissions.ts';
import { requireForm } from './form-rows.ts';
import { type FormCandidate, judgeForm } from './judge-form.ts';
import type { DryRun } from './shapes.ts';

type Impact = DryRun['impact'][number];
type Change = Omit<Impact, 'message' | 'answers'> & { readonly what: string };

/**
 * Finds what a changed structure removes from the live form, and counts the submissions that answered it: all
 * of them up to 10,000, otherwise the newest. The structure may be incomplete. Stored answers are kept.
 * @param mayCount whether the caller may read submissions, because the counts are about them.
 */
async function findImpact(
  db: Queryable,
  live: { workspaceId: string; formId: string; form: Form },
  structure: unknown,
  mayCount: boolean,
): Promise<Pick<DryRun, 'impact' | 'scanned'>> {
  const changes = [...findChanges(live.form, structure)];
  const choices = changes.flatMap(({ option, row, element }) =>
    (option ?? row) === undefined ? [] : [element],
  );
  const counted =
    mayCount && changes.length > 0 ? await countStoredAnswers(db, live, [...new Set(choices)]) : undefined;
  const impact = changes.map(({ what, ...change }): Impact => {
    const answers = counted?.of(change.element, change) ?? null;
    return {
      ...change,
      answers,
      message: `${what}${formatAffectedAnswers(answers, counted?.scanned ?? 0)}.`,
    };
  });
  return { impact, scanned: mayCount ? (counted?.scanned ?? 0) : null };
}

function formatAffectedAnswers(answers: number | null, scanned: number): string {
  if (answers === null) return '';
  return ` affects ${formatCount(answers, 'answer')}${scanned < scanLimit ? '' : ` in the newest ${scanned} submissions`}`;
}

/** Yields what visitors can no longer answer, or can no longer answer as before. */
function* findChanges(live: Form, structure: unknown): Generator<Change> {
  const now = new Map(
    compareForms<unknown>(live, structure).changes.flatMap((change) =>
      change.kind === 'kept' ? [[change.before.node, change.after]] : [],
    ),
  );
  const gone = new Set<unknown>();
  for (const { element, group } of walkElements(live)) {
    const isGroup = isComposite(element) && isRepeatable(element);
    if (!isInput(element) && !isGroup) continue;
    const { id, label } = element.attrs;
    const part = now.get(element);
    const named = quote(label);
    if (!part || groupOf(part) !== group?.attrs.id) {
      gone.add(element);
      // A removed group is reported once, without its elements.
      if (!group || !gone.has(group))
        yield { change: 'element_removed', element: id, what: `Removing ${named}` };
    } else if (part.type !== element.type) {
      yield { change: 'type_changed', element: id, what: `Changing the type of ${named}` };
    } else if (isInput(element)) {
      for (const row of missing(matrixRowsOf(element), part, 'rows'))
        yield {
          change: 'row_removed',
          element: id,
          row: row.id,
          what: `Removing row ${quote(row.label)} of ${named}`,
        };
      for (const option of missing(optionsOf(element), part, 'options'))
        yield {
          change: 'option_removed',
          element: id,
          option: option.id,
          what: `Removing option ${quote(option.label)} of ${named}`,
        };
    }
  }
}

/** Lists the options or rows that a part no longer has. */
function missing(
  options: readonly ChoiceOption[],
  { attrs }: FormPart<unknown>,
  name: 'rows' | 'options',
): ChoiceOption[] {
  const now: readonly unknown[] = [getProperty(attrs, name) ?? []].flat();
  const kept = new Set(now.map((option) => (isRecord(option) ? getProperty(option, 'id') : option)));
  return options.filter(({ id }) => !kept.has(id));
}

/** Returns the id of the repeatable group that contains a part. */
function groupOf({ parent }: FormPart<unknown>): string | undefined {
  for (let above = parent; above; above = above.parent) {
    const id = getProperty(above.attrs, 'id');
    if (getProperty(above.attrs, 'repeatable') === true && typeof id === 'string') return id;
  }
  return undefined;
}

/**
 * Checks a change to a form without storing it: its problems, its warnings, and its impact on the live form.
 * @throws ApiError not_found.
 */
export async function dryRun(
  db: Queryable,
  scope: Pick<RequestScope, 'workspaceId' | 'may' | 'sendsEmail'> & { formId: string },
  candidate: FormCandidate,
): Promise<DryRun> {
  const { workspaceId, formId } = scope;
  const { structure } = await requireForm(db, { workspaceId, formId });
  // The structure was validated when it was published.
  const live = { workspaceId, formId, form: effectiveForm(structure) };
  const needed: Permission = 'submissions:read';
  const [judgement, impact] = await Promise.all([
    judgeForm(db, scope, { ...candidate, formId }),
    findImpact(db, live, candidate.structure, scope.may(needed)),
  ]);
  return { ...judgement, ...impact };
}

/**
 * Counts how many of a form's newest submissions answer each of `elements`, at the top level or in a row of
 * one of `groups`. For elements in `choices`, it also counts each option and each row of a matrix. The row
 * without an element is the number of submissions scanned. `limit` bounds the work, because answers are not
 * indexed by element.
 */
const countAnswers = statement(
  'workspace_id form_id elements groups:texts choices:texts limit',
  'element? option? matrix_row:text? count',
)`
  with newest as (
    select s.id, s.answers from submissions s
    where s.workspace_id = $workspace_id and s.form_id = $form_id and s.trashed_at is null
    order by s.id desc limit $limit),
  given as (
    select n.id, a.key, a.value from newest n, json_each(n.answers) a
    where a.key = any ($elements)
    union all
    select n.id, a.key, a.value
    from newest n, json_each(n.answers) g,
         json_array_elements(case when json_typeof(g.value) = 'array' then g.value else '[]' end) r,
         json_each(case when json_typeof(r.value) = 'object' then r.value else '{}' end) a
    where g.key = any ($groups) and a.key = any ($elements)),
  cells as (
    select id, key, value, null as matrix_row from given
    where key = any ($choices) and json_typeof(value) <> 'object'
    union all
    select g.id, g.key, c.value, c.key
    from given g, json_each(case when json_typeof(g.value) = 'object' then g.value else '{}' end) c
    where g.key = any ($choices)),
  chosen as (
    select c.id, c.key, o.option
    from cells c, json_array_elements_text(
      case when json_typeof(c.value) = 'array' then c.value else json_build_array(c.value) end) o (option))
  select null as element, null as option, null as matrix_row, count(*) as count from newest
  union all
  select key as element, null as option, null as matrix_row, count(distinct id) as count from given group by key
  union all
  select key as element, option, null as matrix_row, count(distinct id) as count from chosen group by key, option
  union all
  select key as element, null as option, matrix_row, count(distinct id) as count
  from cells where matrix_row is not null group by key, matrix_row`;

/** Submissions to scan: 10,000 with 20 answers each took 0.2 s. */
const scanLimit = 10_000;

/**
 * Counts the stored submissions that answer each element of a form, and each option and row of the elements
 * in `choices`. Only the newest `scanLimit` submissions are counted. A submission counts once, even if
 * several rows of a group have an answer.
 */
export async function countStoredAnswers(
  db: Queryable,
  { workspaceId, formId, form }: { workspaceId: string; formId: string; form: Form },
  choices: readonly string[] = [],
) {
  const groups = listQuestions(form).flatMap(({ kind, element }) =>
    kind === 'group' ? [element.attrs.id] : [],
  );
  const elements = [...walkElements(form)].flatMap(({ element }) =>
    isInput(element) || (isComposite(element) && isRepeatable(element)) ? [element.attrs.id] : [],
  );
  const rows = await countAnswers(db, {
    workspace_id: workspaceId,
    form_id: formId,
    elements,
    groups,
    choices: [...choices],
    limit: scanLimit,
  });
  const counted = new Map(
    rows.map(({ element, option, matrix_row: row, count }) => [keyOf(element, { option, row }), count]),
  );
  return {
    /** The number of submissions scanned. */
    scanned: counted.get(keyOf(null, {})) ?? 0,
    /** Counts by element, for elements with at least one answer. */
    counts: Object.fromEntries(
      rows.flatMap(({ element, option, matrix_row: row, count }) =>
        element !== null && option === null && row === null ? [[element, count]] : [],
      ),
    ),
    of: (element: string, part: Part = {}): number => counted.get(keyOf(element, part)) ?? 0,
  };
}

/** An option of an element, or a row of a matrix. Without either, the whole element. */
type Part = { readonly option?: string | null | undefined; readonly row?: string | null | undefined };

const keyOf = (element: string | null, { option, row }: Part): string =>
  JSON.stringify([element, option ?? null, row ?? null]);
