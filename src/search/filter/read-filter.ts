import { type Static, Type } from 'typebox';
import type { Database } from '#kit/database.ts';
import type { RowOf } from '#kit/statement.ts';
import { createdParameters, moment, readSpan } from '#submissions/created-span.ts';
import { submissionStatuses } from '#submissions/present.ts';
import { longestTag } from '#submissions/tags.ts';
import { countedParameter } from './read-counted.ts';
import { readWhere } from './read-where.ts';
import type { FilterKind, filterColumns } from './where-of-forms.ts';

/** What submissions are filtered by, of one form or of many. */
const filterParameters = {
  status: Type.Optional(Type.Enum([...submissionStatuses])),
  ...createdParameters,
  completed_from: moment('From this moment on.'),
  completed_to: moment('Up to this moment, which is left out.'),
  received_from: moment(
    'From this moment on, by the completion of a submission; an incomplete one counts by its last save.',
  ),
  received_to: moment('Up to this moment, which is left out, as `received_from`.'),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: longestTag, description: 'With this tag.' })),
};

const where = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 20_000,
      description: `A condition of the form language as JSON, over answers and reference values, like \`{"element":"age","is":"at_least","value":18}\`. ${description}`,
      examples: ['{"element":"message","is":"contains","value":"hello"}'],
    }),
  );

/** The same of many forms, each of which may have a question. */
export const formsFilterParameters = {
  ...filterParameters,
  where: where(
    'In each form it is asked of its elements of these names, by their types there; where a form has no such element, or one that cannot be asked so, nobody answered it: `not_equals`, `not_contains` and `not_answered` hold. A name that no form has is an error.',
  ),
};

/** The same of one form, where its questions and versions mean something. */
export const formFilterParameters = {
  ...filterParameters,
  version: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Answered this version of the form.' }),
  ),
  where: where('It may name whatever a filter of a webhook may, in any version that was answered.'),
  counted: countedParameter,
};

const FormFilter = Type.Object(formFilterParameters);
type FormFilterQuery = Static<typeof FormFilter>;
type FilterQuery = Omit<FormFilterQuery, 'version' | 'where' | 'counted'>;
export type FormsFilterQuery = FilterQuery & { where?: string };

/** A filter as parameters of statements; `kind` says which statement (byFilter). */
export type Filter = RowOf<typeof filterColumns> & { kind: FilterKind; isDated: boolean };

/** Whether nothing is asked for but a status at most: the counters know how many there are. */
export const isPlain = ({ kind, isDated }: Filter): boolean => (kind === 'any' || kind === 'one') && !isDated;

/** Reads a filter that asks for nothing of one form. */
export function readFilter(query: FilterQuery): Filter {
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
    ...readSpan(query),
    ...times,
    tag: query.tag ?? null,
    version: null,
    condition: null,
    asks_reference: false,
    kind,
    isDated: query.created_from !== undefined || query.created_to !== undefined,
  };
}

/**
 * Reads the filter of a form that is there.
 * @throws ApiError bad_request for a condition that is not understood, or that takes too much work.
 */
export async function readFormFilter(
  database: Database,
  form: { workspaceId: string; formId: string },
  { version, where, counted, ...query }: FormFilterQuery,
): Promise<Filter> {
  const filter = readFilter(query);
  if (version === undefined && where === undefined && counted === undefined) return filter;
  const kind = filter.kind === 'tagged' ? filter.kind : 'filtered';
  const hasCondition = where !== undefined || counted !== undefined;
  const asked = hasCondition ? await readWhere(database, form, { where, counted }, filter) : {};
  return { ...filter, kind, version: version ?? null, ...asked };
}
