import { Type } from 'typebox';
import type { Answers } from '#ast/answers/check-answers.ts';
import { autofillOf } from '#ast/form/autofill.ts';
import { identifiesPerson } from '#ast/form/identifies.ts';
import { type InputElement, isInput, optionsOf, walkElements } from '#ast/form/tree.ts';
import { leastIdAtSql, timeOfIdSql } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { columns, json, type RowOf, statement } from '#kit/statement.ts';
import { strictObject } from '#kit/validation.ts';
import { listColumnsOfVersions } from '#submissions/columns.ts';
import { findRemainingQuotas, quotasOf } from '#submissions/quotas.ts';
import { readAnsweredStructures, readStructures, readViewedForm } from '#submissions/read-columns.ts';
import {
  type Bar,
  languageParameter,
  Summary,
  type SummarySample,
  summarySample,
} from '#submissions/shapes.ts';
import { summariseElements } from '#submissions/summary/summarise.ts';
import {
  formFilterParameters,
  isPlainKind,
  readFormFilter,
  type SubmissionFilter,
} from './filter/read-filter.ts';
import { inSpanSql, invalidCondition, parseConditionJson, readWhere } from './filter/read-where.ts';
import {
  declareByFilterKind,
  filterColumns,
  filterConditionSql,
  filteredReceivedSql,
  meetsConditionSql,
  receivedAtSql,
  spanColumns,
} from './filter/where-of-forms.ts';
import { readInBatches } from './read-submissions.ts';

const SummaryQuery = strictObject({
  ...formFilterParameters,
  time_zone: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The time zone that defines days, such as Europe/Berlin. Defaults to UTC.',
    }),
  ),
  language: languageParameter,
  sample: Type.Optional(summarySample),
  compare: Type.Optional(
    Type.String({
      maxLength: 20_000,
      description:
        'Compares two groups of submissions: a JSON list of two conditions like `where`. Each bar then has the counts of both groups in `groups`. A submission can belong to both.',
      examples: [
        '[{"element":"plan","is":"equals","value":"Free"},{"element":"plan","is":"equals","value":"Pro"}]',
      ],
    }),
  ),
});

/** The conditions of the two groups of a comparison; null without one. */
const comparedColumns = columns(
  'first:jsonPath? first_reads_whole:boolean other:jsonPath? other_reads_whole:boolean',
);
type Compared = RowOf<typeof comparedColumns>;

/** Answers are parsed as JSON for a condition, so none is checked without a comparison. */
const isInGroupSql = (condition: string, readsWhole: string): string =>
  `case when ${condition} is not null then ${meetsConditionSql(condition, readsWhole)} end`;

/**
 * Selects the next submissions with their answers and groups, newest first, below `to_id`. A random sample has
 * the ids whose hash, from -2^31 to 2^31 - 1, is at most `most_hash`. They are found in the index of ids, so that
 * other rows are not read.
 */
const readAnswersDown = declareByFilterKind(
  (filter, met) =>
    statement(
      ['limit most_hash:integer workspace_id form_id', filter, comparedColumns],
      ['id in_first:boolean? in_other:boolean?', { answers: json<Answers>() }],
    )`
    select p.id, p.answers, ${isInGroupSql('$first', '$first_reads_whole')} as in_first,
           ${isInGroupSql('$other', '$other_reads_whole')} as in_other
    from (
      select p.id from submissions p
      where p.workspace_id = $workspace_id and p.form_id = $form_id and uuid_hash(p.id) <= $most_hash and ${met}
      order by p.id desc limit $limit) sampled
    cross join lateral (
      select * from submissions p where p.workspace_id = $workspace_id and p.id = sampled.id limit 1) p
    order by p.id desc`,
);

/** The most submissions to summarize: the newest ones, or a random sample of all. */
export const sampleSizes = { newest: 10_000, all: 100_000 } as const satisfies Record<SummarySample, number>;

type FormKey = { workspace_id: string; form_id: string };

/** The parameters of a summary; `version` is the live one. */
type SummaryRequest = FormKey & {
  readonly timeZone: string;
  readonly sample: SummarySample;
  readonly language: string | undefined;
  readonly compared: Compared;
  readonly version: number;
  /** Only these questions; all if undefined. */
  readonly elements?: ReadonlySet<string>;
};

/**
 * Summarizes the submissions that match a filter: the number per day, the number of completed ones, and the
 * answers to each question. Days and totals are exact. Answers are from the newest submissions (sampleSizes);
 * `sampled` is their number.
 * @throws ApiError bad_request for an unknown time zone.
 */
export async function readSummary(
  database: Database,
  filter: SubmissionFilter,
  request: SummaryRequest,
): Promise<Summary> {
  const { workspace_id, form_id, timeZone: time_zone } = request;
  const counting = readDays(database, filter, { workspace_id, form_id, time_zone });
  const [days, { elements, ...counts }, liveOf] = await Promise.all([
    counting,
    summarizeAnswers(database, filter, request, counting),
    readLiveOptions(database, request),
  ]);
  const { all, ...totals } = totalsOf(days);
  return {
    ...totals,
    completion_rate: all === 0 ? null : (all - totals.incomplete) / all,
    days: days.map(({ waiting, ...day }) => ({ ...day, ...(waiting > 0 && { waiting }) })),
    ...counts,
    elements: elements.map((element) => ({
      ...element,
      bars: element.bars.map((bar) => ({ ...bar, ...liveOf(element.id, bar.option ?? bar.label) })),
    })),
  };
}

function totalsOf(days: readonly CountedDay[]) {
  const completed = days.reduce((sum, day) => sum + day.completed, 0);
  const incomplete = days.reduce((sum, day) => sum + day.incomplete, 0);
  const waiting = days.reduce((sum, day) => sum + day.waiting, 0);
  return { completed, incomplete, waiting, all: completed + incomplete + waiting };
}

/** Reads the remaining quotas and images of options in the live version, by element and stored value. */
async function readLiveOptions(
  database: Database,
  { workspace_id, form_id, version }: FormKey & { version: number },
): Promise<(element: string, option: string) => Pick<Bar, 'places' | 'image'>> {
  const [live] = await readStructures(database, { workspace_id, form_id, versions: [version] });
  const form = live?.structure;
  if (!form) return () => ({});
  const left = await findRemainingQuotas(database, { workspaceId: workspace_id, id: form_id, version, form });
  const { options } = quotasOf(form);
  const inputs = [...walkElements(form)].flatMap(({ element }) => (isInput(element) ? [element] : []));
  const images = new Map(inputs.map((input) => [input.attrs.id, optionsOf(input)]));
  return (element, option) => {
    const limit = options.find((each) => each.element === element && each.option === option);
    const count = left.get(element)?.get(option);
    const image = images.get(element)?.find(({ id }) => id === option)?.image;
    return {
      ...(limit && count !== undefined && { places: { capacity: limit.capacity, left: count } }),
      ...(image !== undefined && { image }),
    };
  };
}

/** Answers that many people share, and so do not identify one person. */
const shared: readonly unknown[] = [
  'organization',
  'organization-title',
  'address-level1',
  'address-level2',
  'country',
  'country-name',
];

/**
 * Whether answers identify a person or contain contact details, so that counting equal answers is
 * meaningless.
 */
const isContact = (input: InputElement): boolean =>
  identifiesPerson(input) && !shared.includes(autofillOf(input));

async function summarizeAnswers(
  database: Database,
  filter: SubmissionFilter,
  { workspace_id, form_id, sample, language, compared, elements }: SummaryRequest,
  counting: Promise<readonly CountedDay[]>,
): ReturnType<typeof summariseElements> {
  const forms = await readAnsweredStructures(database, { workspaceId: workspace_id, formId: form_id });
  const columns = listColumnsOfVersions(forms, language).filter(({ id }) => elements?.has(id) ?? true);
  const identifying = forms
    .flatMap((form) => [...walkElements(form)])
    .flatMap(({ element }) => (isInput(element) && isContact(element) ? [element.attrs.id] : []));
  const isCompared = compared.first !== null;
  const share = sample === 'all' ? sampleSizes.all / totalsOf(await counting).all : 1;
  const most_hash = Math.floor(Math.min(1, share) * 2 ** 32) - 2 ** 31 - 1;
  const read = async (to_id: string, limit: number) => {
    const values = { ...filter, ...compared, workspace_id, form_id, to_id, limit, most_hash };
    const rows = await readAnswersDown[filter.kind](database, values);
    return rows.map(({ id, answers, in_first, in_other }) => ({
      id,
      answers,
      ...(isCompared && { groups: [Number(in_first), Number(in_other)] as const }),
    }));
  };
  return summariseElements(
    columns,
    readInBatches(read, filter.to_id, sample === 'all' ? undefined : sampleSizes[sample]),
    {
      identifying: new Set(identifying),
      isCompared,
    },
  );
}

export const notCompared: Compared = {
  first: null,
  first_reads_whole: false,
  other: null,
  other_reads_whole: false,
};

/** @throws ApiError bad_request if it is not a list of two valid conditions. */
async function readCompared(
  database: Database,
  form: { workspaceId: string; formId: string },
  compare: string | undefined,
  span: SubmissionFilter,
): Promise<Compared> {
  if (compare === undefined) return notCompared;
  const field = 'compare';
  const sent = parseConditionJson(compare, field);
  if (!Array.isArray(sent) || sent.length !== 2)
    throw invalidCondition(['"compare" must be a list of two conditions.'], { field });
  const [first, other] = await Promise.all(
    sent.map((where) => readWhere(database, form, { where: JSON.stringify(where), field }, span)),
  );
  return {
    first: first!.condition,
    first_reads_whole: first!.reads_whole,
    other: other!.condition,
    other_reads_whole: other!.reads_whole,
  };
}

/** Operation that summarizes a form's submissions. */
export const summaryEndpoints = ({ database }: { database: Database }) => ({
  getFormSummary: operation({
    summary: 'Get summary of a form',
    description:
      'Returns the number of submissions per day, the number of completed ones, and a summary of the answers to each question. Filters are the same as in the list of submissions; all must match.',
    permission: 'submissions:read',
    params: idParameter,
    query: SummaryQuery,
    example: { query: { time_zone: 'Europe/Berlin' } },
    reply: { status: 200, description: 'The summary.', schema: Summary },
    async run({ workspaceId, params, query }) {
      const { time_zone: timeZone = 'UTC', sample = 'newest', language, compare, ...sentFilter } = query;
      // An offset like +02:00 has opposite meanings in PostgreSQL and JavaScript.
      if (!/^[A-Za-z][\w+/-]*$/.test(timeZone))
        throw new ApiError('bad_request', '"time_zone" must be a time zone like Europe/Berlin.');
      const form = { workspaceId, formId: params.id };
      const { version } = await readViewedForm(database, form);
      const filter = await readFormFilter(database, form, sentFilter);
      const compared = await readCompared(database, form, compare, filter);
      const key = { workspace_id: workspaceId, form_id: params.id };
      const request = { ...key, timeZone, sample, language, compared, version };
      return { body: await readSummary(database, filter, request) };
    },
  }),
});

const dayParameters = columns('workspace_id form_id time_zone');
const dayColumns = columns('day completed incomplete:bigint waiting:bigint');
type CountedDay = RowOf<typeof dayColumns>;
const ofForm = 'p.workspace_id = $workspace_id and p.form_id = $form_id';
const inSpan = `${ofForm} and ${inSpanSql}`;

const countOfDay = (status: string): string => `(
  select count(*) from submissions p
  where ${inSpan} and p.status = '${status}' and ($status is null or $status = '${status}')
    and p.id >= days.from_id and p.id < days.to_id)`;

/**
 * Counts submissions per day in a time zone, except days without submissions. PostgreSQL rejects unknown
 * zones (22023). A day is a range of ids, which are counted in their index alone: 50 ms for 500,000
 * submissions, whereas reading each row took seconds.
 */
const countDays = statement([dayParameters, spanColumns], dayColumns)`
  with ends as (
    select min(${timeOfIdSql('first.id')}) as first, max(${timeOfIdSql('last.id')}) as last
    from (values ('completed'), ('incomplete'), ('waiting')) as each (status)
    cross join lateral (
      select p.id from submissions p where ${inSpan} and p.status = each.status order by p.id limit 1) first
    cross join lateral (
      select p.id from submissions p where ${inSpan} and p.status = each.status order by p.id desc limit 1) last),
  days as (
    select day, ${leastIdAtSql('day at time zone $time_zone')} as from_id,
           ${leastIdAtSql("(day + interval '1 day') at time zone $time_zone")} as to_id
    from ends cross join generate_series(
      date_trunc('day', first at time zone $time_zone), last at time zone $time_zone, interval '1 day') as day),
  -- Without materialized, each count would run again for the comparison with zero.
  counted as materialized (
    select day, ${countOfDay('completed')} as completed, ${countOfDay('incomplete')} as incomplete,
           ${countOfDay('waiting')} as waiting
    from days)
  select to_char(day, 'YYYY-MM-DD') as day, completed, incomplete, waiting from counted
  where completed > 0 or incomplete > 0 or waiting > 0
  order by counted.day`;

/** Counts the submissions that match a filter, per day. Reads each of them. */
const countMatches = (at: string, met: string) =>
  statement([dayParameters, filterColumns], dayColumns)`
    select to_char(day, 'YYYY-MM-DD') as day, completed, incomplete, waiting from (
      select date_trunc('day', ${at} at time zone $time_zone) as day,
             count(*) filter (where p.status = 'completed') as completed,
             count(*) filter (where p.status = 'incomplete') as incomplete,
             count(*) filter (where p.status = 'waiting') as waiting
      from submissions p where ${ofForm} and ${met}
      group by 1) counted
    order by counted.day`;
const countFilteredDays = countMatches(timeOfIdSql('p.id'), `${inSpanSql} and ${filterConditionSql}`);
const countReceivedDays = countMatches(receivedAtSql, filteredReceivedSql);

/** PostgreSQL's code for an invalid parameter, here the time zone. */
const invalidParameter = '22023';

/**
 * Counts the submissions of a form that match a filter, by the day on which they were started, or received if
 * the filter limits that time.
 * @throws ApiError bad_request for an unknown time zone.
 */
async function readDays(
  database: Database,
  filter: SubmissionFilter,
  form: { workspace_id: string; form_id: string; time_zone: string },
): Promise<readonly CountedDay[]> {
  const isReceived = filter.received_from !== null || filter.received_to !== null;
  const count = isReceived ? countReceivedDays : isPlainKind(filter) ? countDays : countFilteredDays;
  try {
    return await count(database, { ...filter, ...form });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === invalidParameter)
      throw new ApiError('bad_request', '"time_zone" must be a time zone like Europe/Berlin.');
    throw error;
  }
}
