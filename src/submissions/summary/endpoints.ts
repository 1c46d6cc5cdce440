import type { Answers } from '#ast/answers/check-answers.ts';
import { autofillOf } from '#ast/form/autofill.ts';
import { identifiesPerson } from '#ast/form/identifies.ts';
import { type InputElement, isInput, optionsOf, walkElements } from '#ast/form/tree.ts';
import { effectiveFormColumn } from '#forms/form-rows.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { leastIdAtSql, timeOfIdSql } from '#kit/id-times.ts';
import { idParameter, operation } from '#kit/operation.ts';
import { columns, json, statement } from '#kit/statement.ts';
import { requireFormAccess } from '#workspaces/authenticate.ts';
import { listColumnsOfVersions } from '../columns.ts';
import { readCreatedSpan } from '../created-span.ts';
import { findRemainingQuotas, quotasOf } from '../quotas.ts';
import { readStructures, readViewedForm } from '../read-columns.ts';
import { readInBatches } from '../read-in-batches.ts';
import { type Bar, Summary, SummaryQuery, type SummarySample } from '../shapes.ts';
import { summariseElements } from './summarise.ts';

/** Times are converted to ids, which sort by time and are indexed. */
const span = columns('workspace_id form_id from_id to_id');

const inSpan = `p.workspace_id = $workspace_id and p.form_id = $form_id and p.trashed_at is null
  and p.id >= $from_id and p.id < $to_id`;

const countOfDay = (status: string): string => `(
  select count(*) from submissions p
  where ${inSpan} and p.status = '${status}' and p.id >= days.from_id and p.id < days.to_id)`;

/**
 * Counts submissions per day in a time zone, except days without submissions. PostgreSQL rejects unknown
 * zones (22023). A day is a range of ids, which are counted in their index alone: 50 ms for 500,000
 * submissions, whereas reading each row took seconds.
 */
const countDays = statement(
  'summary.count_days',
  ['time_zone', span],
  'day completed incomplete:bigint',
  `with ends as (
     select min(${timeOfIdSql('first.id')}) as first, max(${timeOfIdSql('last.id')}) as last
     from (values ('completed'), ('incomplete')) as each (status)
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
     select day, ${countOfDay('completed')} as completed, ${countOfDay('incomplete')} as incomplete from days)
   select to_char(day, 'YYYY-MM-DD') as day, completed, incomplete from counted
   where completed > 0 or incomplete > 0
   order by counted.day`,
);

/** Selects the next submissions with their answers, newest first, below `to_id`. */
const readAnswersDown = statement(
  'summary.read_answers_down',
  ['limit', span],
  ['id', { answers: json<Answers>() }],
  `select p.id, p.answers from submissions p where ${inSpan} order by p.id desc limit $limit`,
);

/** Selects the live version and the versions answered by the newest `limit` submissions, newest first. */
const findSampledVersions = statement(
  'summary.find_sampled_versions',
  ['limit', span],
  { structure: effectiveFormColumn },
  `select v.structure from form_versions v
   join forms f on f.workspace_id = v.workspace_id and f.id = v.form_id
   where v.workspace_id = $workspace_id and v.form_id = $form_id
     and (v.version = f.version or v.version in (
       select sample.version from (
         select p.version from submissions p where ${inSpan} order by p.id desc limit $limit) sample))
   order by v.version desc limit 200`,
);

/**
 * The number of newest submissions to summarize. `newest` keeps the page fast at any size; `all` is for
 * requests of all submissions, and keeps them within seconds.
 */
export const sampleSizes = { newest: 10_000, all: 1_000_000 } as const satisfies Record<
  SummarySample,
  number
>;

/** The parameters of a summary; `version` is the live one. */
type SummaryRequest = {
  readonly timeZone: string;
  readonly sample: SummarySample;
  readonly language?: string | undefined;
  readonly version: number;
};

type Span = { workspace_id: string; form_id: string; from_id: string; to_id: string };

/** PostgreSQL's code for an invalid parameter, here the time zone. */
const invalidParameter = '22023';

/**
 * Summarizes a form's submissions: the number per day, the number of completed ones, and the answers to each
 * question. Days and totals are exact. Answers are from the newest submissions (sampleSizes); `sampled` is
 * their number.
 * @throws ApiError bad_request for an unknown time zone.
 */
async function readSummary(
  database: Database,
  span: Span,
  { timeZone, sample, language, version }: SummaryRequest,
): Promise<Summary> {
  const [days, { sampled, elements }, liveOf] = await Promise.all([
    readDays(database, { ...span, time_zone: timeZone }),
    addUp(database, span, { limit: sampleSizes[sample], language }),
    readLive(database, span, version),
  ]);
  const completed = days.reduce((sum, day) => sum + day.completed, 0);
  const incomplete = days.reduce((sum, day) => sum + day.incomplete, 0);
  const all = completed + incomplete;
  return {
    completed,
    incomplete,
    completion_rate: all === 0 ? null : completed / all,
    days,
    sampled,
    elements: elements.map((element) => ({
      ...element,
      bars: element.bars.map((bar) => ({ ...bar, ...liveOf(element.id, bar.option ?? bar.label) })),
    })),
  };
}

/** Reads the remaining quotas and images of options in the live version, by element and stored value. */
async function readLive(
  database: Database,
  { workspace_id, form_id }: Span,
  version: number,
): Promise<(element: string, option: string) => Pick<Bar, 'places' | 'image'>> {
  const [live] = await readStructures(database, { workspace_id, form_id, versions: [version] });
  const form = live?.structure;
  if (!form) return () => ({});
  const left = await findRemainingQuotas(database, { workspaceId: workspace_id, id: form_id, version, form });
  const { options } = quotasOf(form);
  const asked = [...walkElements(form)].flatMap(({ element }) => (isInput(element) ? [element] : []));
  const images = new Map(asked.map((input) => [input.attrs.id, optionsOf(input)]));
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

async function readDays(database: Database, asked: Span & { time_zone: string }): Promise<Summary['days']> {
  try {
    return await countDays(database, asked);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === invalidParameter)
      throw new ApiError('bad_request', '"time_zone" must be a time zone like Europe/Berlin.');
    throw error;
  }
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

async function addUp(
  database: Database,
  span: Span,
  { limit, language }: { limit: number; language: string | undefined },
): ReturnType<typeof summariseElements> {
  const versions = await findSampledVersions(database, { ...span, limit });
  const forms = versions.map(({ structure }) => structure);
  const columns = listColumnsOfVersions(forms, language);
  const identifying = forms
    .flatMap((form) => [...walkElements(form)])
    .flatMap(({ element }) => (isInput(element) && isContact(element) ? [element.attrs.id] : []));
  const read = (to_id: string, most: number) => readAnswersDown(database, { ...span, to_id, limit: most });
  return summariseElements(columns, readInBatches(read, span.to_id, limit), new Set(identifying));
}

/** Operation that summarizes a form's submissions. */
export const summaryEndpoints = ({ database }: { database: Database }) => ({
  getFormSummary: operation({
    summary: 'Get summary of a form',
    description:
      'Returns the number of submissions per day, the number of completed ones, and a summary of the answers to each question.',
    permission: 'submissions:read',
    params: idParameter,
    query: SummaryQuery,
    example: { query: { time_zone: 'Europe/Berlin' } },
    reply: { status: 200, description: 'The summary.', schema: Summary },
    async run({ workspaceId, formIds, params, query }) {
      requireFormAccess(formIds, params.id);
      const { time_zone: timeZone = 'UTC', sample = 'newest', language, ...days } = query;
      // An offset like +02:00 has opposite meanings in PostgreSQL and JavaScript.
      if (!/^[A-Za-z][\w+/-]*$/.test(timeZone))
        throw new ApiError('bad_request', '"time_zone" must be a time zone like Europe/Berlin.');
      const { version } = await readViewedForm(database, { workspaceId, formId: params.id });
      const span = { workspace_id: workspaceId, form_id: params.id, ...readCreatedSpan(days) };
      return { body: await readSummary(database, span, { timeZone, sample, language, version }) };
    },
  }),
});
