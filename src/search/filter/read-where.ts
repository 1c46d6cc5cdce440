import { type Comparison, type Condition, comparisonsOf } from '#ast/basics/condition.ts';
import { withoutNulls } from '#ast/basics/json.ts';
import { normalizeJson } from '#ast/form/normalize-json.ts';
import type { Form } from '#ast/form/tree.ts';
import { findComparedElement } from '#ast/logic/check-condition.ts';
import { todayIn } from '#ast/rules/today.ts';
import { now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError, type ErrorItem } from '#kit/errors.ts';
import { statement } from '#kit/statement.ts';
import { findViewedForm, readAnsweredStructures, readStructures } from '#submissions/read-columns.ts';
import { parseSummaryBar, summaryBarPath } from './summary-bar.ts';
import { type ComparedKind, checkWhere, doesReadWhole, wherePath } from './where-path.ts';

/** Selects submissions `p` that are within the time span and not in the trash. */
export const inSpanSql = `p.trashed_at is null and p.id >= $from_id and p.id < $to_id`;

/** Counts the submissions of forms within a time span, up to `most`. */
export const countSubmissionsInSpan = statement('workspace_id form_ids from_id to_id most', 'count')`
  select count(*) as count from (
    select from submissions p
    where p.workspace_id = $workspace_id and p.form_id = any ($form_ids) and ${inSpanSql} limit $most) counted`;

/**
 * The maximum work of a request in PostgreSQL: the number of submissions times the number of comparisons. It
 * takes about 3 s on one core, less than the statement timeout.
 */
const mostRowChecks = 3_000_000;
/** The base cost of a submission, because its answers are read once. */
const checksPerRow = 2;

type FormKey = { workspaceId: string; formId: string };

/** The parameters that are conditions. */
type ConditionField = 'where' | 'compare';

/**
 * Reads a condition on the submissions of a form, and the bar of its summary that `counted` selects.
 * @param sent.field the parameter that has the condition. Default: `where`.
 * @throws ApiError bad_request for an invalid condition, with the position of each problem, and for too much
 * work. The work is estimated, not measured.
 */
export async function readWhere(
  database: Database,
  form: FormKey,
  sent: { where: string | undefined; counted?: string | undefined; field?: ConditionField },
  span: { from_id: string; to_id: string },
): Promise<{ condition: string; reads_whole: boolean }> {
  // A condition that always matches.
  const where = sent.where === undefined ? { all: [] } : parseConditionJson(sent.where, sent.field);
  const counted = sent.counted === undefined ? undefined : parseSummaryBar(sent.counted);
  const key = { workspace_id: form.workspaceId, form_id: form.formId };
  const [found] = await findViewedForm(database, key);
  const live = found ? await readStructures(database, { ...key, versions: [found.version] }) : [];
  if (!found || !live[0]) throw new ApiError('not_found');
  const versions = [live[0].structure];
  // Older versions are read only for elements that the live version does not have.
  if (counted || checkWhereOf(versions, where).length > 0)
    versions.push(...(await readAnsweredStructures(database, form)));
  const [newest, ...older] = versions;
  const condition =
    sent.where === undefined ? undefined : requireCondition(newest!, older, where, sent.field);
  const comparisons = (condition ? countComparisons(condition) : 0) + (counted ? 1 : 0);
  await limitConditionWork(
    database,
    { workspaceId: form.workspaceId, formIds: [form.formId] },
    comparisons,
    span,
    sent.field,
  );
  const reads_whole = condition !== undefined && doesReadWhole(condition);
  const paths = [
    ...(condition
      ? [
          wherePath(condition, {
            typeOf: (comparison) =>
              findComparedElement(comparison, versions)[1]!.element.type as ComparedKind,
            today: todayIn(found.settings.time_zone ?? 'UTC', now()),
            readsWhole: reads_whole,
          }),
        ]
      : []),
    ...(counted ? [summaryBarPath(counted, versions, reads_whole ? '$.answers' : '$')] : []),
  ];
  return { condition: paths.map((path) => `(${path})`).join(' && '), reads_whole };
}

/** Returns the cost of a condition per submission. */
export const countComparisons = (condition: Condition): number => [...comparisonsOf(condition)].length;

/** @throws ApiError bad_request if the request needs too much work. The work is estimated, not measured. */
export async function limitConditionWork(
  database: Database,
  { workspaceId, formIds }: { workspaceId: string; formIds: string[] },
  comparisons: number,
  { from_id, to_id }: { from_id: string; to_id: string },
  field?: ConditionField,
): Promise<void> {
  const most = Math.floor(mostRowChecks / (checksPerRow + comparisons));
  const span = { workspace_id: workspaceId, form_ids: formIds, from_id, to_id, most: most + 1 };
  const [{ count } = { count: 0 }] = await countSubmissionsInSpan(database, span);
  if (count > most)
    throw invalidCondition(
      [
        `"${field ?? 'where'}" has too many comparisons for more than ${most} submissions. Narrow the list with created_from and created_to.`,
      ],
      { field },
    );
}

/** @throws ApiError bad_request if the condition is invalid. */
export function parseConditionJson(sent: string, field: ConditionField = 'where'): unknown {
  try {
    return normalizeJson(withoutNulls(JSON.parse(sent)));
  } catch (cause) {
    throw invalidCondition([`"${field}" must be JSON.`], { field, cause });
  }
}

const checkWhereOf = (versions: readonly Form[], where: unknown) =>
  checkWhere(where, (comparison) => findComparedElement(comparison, versions)[0]);

/** @throws ApiError bad_request if the condition is invalid. */
function requireCondition(
  live: Form,
  older: readonly Form[],
  where: unknown,
  field?: ConditionField,
): Condition {
  const problems = checkWhereOf([live, ...older], where);
  if (problems.length > 0)
    throw invalidCondition(
      problems.map(({ message, path }) => ({ message, path: [...path] })),
      { field },
    );
  refuseTextOrderComparison(where as Condition, field);
  return where as Condition;
}

/** @throws ApiError bad_request if the condition is invalid. */
export function refuseTextOrderComparison(condition: Condition, field?: ConditionField): void {
  const text = comparisonsOf(condition).find(isOrderOfTexts);
  if (text)
    throw invalidCondition(
      [`"${text.is}" compares a reference value with a number. Send a number as its value.`],
      { field },
    );
}

/** Reference values are text, whose sort order depends on the language. */
const isOrderOfTexts = (comparison: Comparison): boolean =>
  'reference' in comparison &&
  ['greater_than', 'at_least', 'less_than', 'at_most'].includes(comparison.is) &&
  typeof comparison.value !== 'number';

/** Returns the error for an invalid condition, with the position of each problem. */
export function invalidCondition(
  problems: readonly (string | Omit<ErrorItem, 'field'>)[],
  { field = 'where', cause }: { field?: ConditionField | undefined; cause?: unknown } = {},
): ApiError {
  const errors = problems.map((problem) => ({
    field,
    ...(typeof problem === 'string' ? { message: problem } : problem),
  }));
  return new ApiError('bad_request', errors[0]!.message, { errors, ...(cause !== undefined && { cause }) });
}
