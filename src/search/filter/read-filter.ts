import { type Static, Type } from 'typebox';
import { longestLabel } from '#forms/labels.ts';
import { leastIdAt } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { maximumId, minimumId } from '#kit/pagination.ts';
import type { RowOf } from '#kit/statement.ts';
import { submissionStatuses } from '#submissions/present.ts';
import { readWhere } from './read-where.ts';
import { summaryBarParameter } from './summary-bar.ts';
import type { FilterKind, filterColumns } from './where-of-forms.ts';

const timeParameter = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', description }));

/** Returns the smallest id that can be created at a time. Ids start in 1970. */
export const leastIdCreatedAt = (time: string): string => leastIdAt(new Date(Math.max(0, Date.parse(time))));

/**
 * Returns the range of ids of the submissions created within a span of time: ids sort by time, and their
 * index finds them.
 */
const readCreatedSpan = (span: { created_from?: string; created_to?: string }) => ({
  from_id: span.created_from === undefined ? minimumId : leastIdCreatedAt(span.created_from),
  to_id: span.created_to === undefined ? maximumId : leastIdCreatedAt(span.created_to),
});

/** The filters for submissions of one or many forms. */
const filterParameters = {
  status: Type.Optional(Type.Enum([...submissionStatuses])),
  created_from: timeParameter('At or after this time.'),
  created_to: timeParameter('Until this time, exclusive.'),
  completed_from: timeParameter('At or after this time.'),
  completed_to: timeParameter('Until this time, exclusive.'),
  received_from: timeParameter(
    'Completed at or after this time; for an incomplete submission, last saved at or after it.',
  ),
  received_to: timeParameter(
    'Completed before this time; for an incomplete submission, last saved before it.',
  ),
  tag: Type.Optional(
    Type.String({ minLength: 1, maxLength: longestLabel, description: 'Only submissions with this tag.' }),
  ),
};

const where = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 20_000,
      description: `A JSON condition on answers and reference values, such as \`{"element":"age","is":"at_least","value":18}\`. ${description}`,
      examples: ['{"element":"message","is":"contains","value":"hello"}'],
    }),
  );

/** The filters for submissions of many forms, each of which can have its own elements. */
export const formsFilterParameters = {
  ...filterParameters,
  where: where(
    'In each form, the condition applies to the elements with these ids, by their types in that form. If a form lacks the element or cannot compare it, the question counts as unanswered: `not_equals`, `not_contains` and `not_answered` match. An id that no form has is an error. `$stage` and `$assignee` are the stage and the assignee.',
  ),
};

/** The filters for submissions of one form, which can also use its questions and versions. */
export const formFilterParameters = {
  ...filterParameters,
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'Only submissions of this form version.',
    }),
  ),
  where: where(
    'It can use the same names as a webhook filter, from any answered version, and `$stage` and `$assignee` like an element with options.',
  ),
  counted: summaryBarParameter,
};

const FormFilter = Type.Object(formFilterParameters);
type FormFilterQuery = Static<typeof FormFilter>;
type FilterQuery = Omit<FormFilterQuery, 'version' | 'where' | 'counted'>;
export type FormsFilterQuery = FilterQuery & { where?: string };

/** A filter as parameters of statements. `kind` selects the statement (declareByFilterKind). */
export type SubmissionFilter = RowOf<typeof filterColumns> & { kind: FilterKind; isDated: boolean };

/** Whether the filter has at most a status and a time span of ids, so that an index has all it needs. */
export const isPlainKind = ({ kind }: SubmissionFilter): boolean => kind === 'any' || kind === 'one';

/** Whether the filter has at most a status, so that the stored counters give the total. */
export const isPlainFilter = (filter: SubmissionFilter): boolean => isPlainKind(filter) && !filter.isDated;

/** Reads a filter without parameters that depend on a form. */
export function readSubmissionFilter(query: FilterQuery): SubmissionFilter {
  const dateOf = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text));
  const times = {
    completed_from: dateOf(query.completed_from),
    completed_to: dateOf(query.completed_to),
    received_from: dateOf(query.received_from),
    received_to: dateOf(query.received_to),
  };
  const isTimed = Object.values(times).some((time) => time !== null);
  const kind = query.tag !== undefined ? 'tagged' : isTimed ? 'filtered' : query.status ? 'one' : 'any';
  return {
    status: query.status ?? null,
    ...readCreatedSpan(query),
    ...times,
    tag: query.tag ?? null,
    version: null,
    condition: null,
    reads_whole: false,
    kind,
    isDated: query.created_from !== undefined || query.created_to !== undefined,
  };
}

/**
 * Reads the filter of an existing form.
 * @throws ApiError bad_request for an invalid condition, or too much work.
 */
export async function readFormFilter(
  database: Database,
  form: { workspaceId: string; formId: string },
  { version, where, counted, ...query }: FormFilterQuery,
): Promise<SubmissionFilter> {
  const filter = readSubmissionFilter(query);
  if (version === undefined && where === undefined && counted === undefined) return filter;
  const kind = filter.kind === 'tagged' ? filter.kind : 'filtered';
  const hasCondition = where !== undefined || counted !== undefined;
  const conditions = hasCondition ? await readWhere(database, form, { where, counted }, filter) : {};
  return { ...filter, kind, version: version ?? null, ...conditions };
}
