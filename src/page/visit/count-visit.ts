import type { FastifyRequest } from 'fastify';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { isBlank } from '#ast/basics/text.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import { type Form, listQuestions } from '#ast/form/tree.ts';
import { evaluateVisibility } from '#ast/logic/evaluate.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import {
  durationBucket,
  type VisitCount,
  type VisitCounter,
  visitNamesOfSteps,
} from '#submissions/visit-counter.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import {
  type FormRequest,
  type OpenVisitServices,
  openVisitEvenIfClosed,
  type Visit,
} from '../visit/visit.ts';
import { mayCountVisits } from './is-counted.ts';
import { getPostSource } from './screening.ts';
import {
  addReachedStep,
  noVisitProgress,
  type ProgressChange,
  parseProgressChange,
  type VisitProgress,
  visitControl,
} from './visit-progress.ts';

/** Dependencies for counting visits. */
export type CountVisitServices = { readonly visitCounter: VisitCounter };

/** Counts a page view when a visit opens its first page. HEAD requests do not count. */
export function countView(context: CountVisitServices, visit: Visit, request: FastifyRequest): void {
  if (!visit.isCounted || request.method !== 'GET') return;
  const first = visitNamesOfSteps(visit.live.form)[firstStep(visit)]!;
  add(context, visit, request, [
    ['view', '', 1],
    ['step', first, 1],
  ]);
}

const firstSteps = new WeakMap<Form, { readonly today: string; readonly step: number }>();

/**
 * Returns the step at which a visit begins. Without reference data it depends only on the day, so it is
 * cached.
 */
function firstStep({ live: { form }, context, reference }: Visit): number {
  const { today } = context;
  const known = firstSteps.get(form);
  const isPlain = Object.keys(reference).length === 0;
  if (isPlain && known?.today === today) return known.step;
  const [step = 0] = evaluateVisibility(form, {}, context).steps;
  if (isPlain) firstSteps.set(form, { today, step });
  return step;
}

/** Counts the progress of a visit since the last count. */
export function countVisitProgress(
  context: CountVisitServices,
  visit: Pick<Visit, 'live' | 'context'>,
  request: FastifyRequest,
  change: ProgressChange,
  byScript: boolean,
): void {
  add(context, visit, request, listProgressCounts(visit.live.form, change, byScript));
}

/** Counts a completed visit, with its duration in seconds if known. */
export function countCompletion(
  context: CountVisitServices,
  visit: Pick<Visit, 'live' | 'context'>,
  request: FastifyRequest,
  { change, byScript, seconds }: { change: ProgressChange; byScript: boolean; seconds: number | undefined },
): void {
  const { form } = visit.live;
  const last = change.is.steps.at(-1);
  add(context, visit, request, [
    ...listProgressCounts(form, change, byScript),
    ['completion', '', 1],
    ...(last === undefined ? [] : [['onward', visitNamesOfSteps(form)[last]!, 1] as const]),
    ...(change.is.question === '' ? [] : [['question', change.is.question, -1] as const]),
    ...(seconds === undefined ? [] : [['time', String(durationBucket(seconds)), 1] as const]),
  ]);
}

function* listProgressCounts(
  form: Form,
  { was, is }: ProgressChange,
  byScript: boolean,
): Generator<VisitCount, void> {
  if (is.steps.length === 0) return;
  const names = visitNamesOfSteps(form);
  if (was.steps.length === 0) {
    yield ['start', '', 1];
    if (byScript) yield ['scripted_start', '', 1];
  }
  // The first step was already counted with the page view.
  let last = was.steps.at(-1);
  for (const step of is.steps.slice(was.steps.length)) {
    if (last !== undefined) {
      yield ['onward', names[last]!, 1];
      yield ['step', names[step]!, 1];
    }
    last = step;
  }
  if (was.question === is.question) return;
  if (was.question !== '') yield ['question', was.question, -1];
  if (is.question !== '') yield ['question', is.question, 1];
}

function add(
  { visitCounter }: CountVisitServices,
  { live, context }: Pick<Visit, 'live' | 'context'>,
  request: FastifyRequest,
  counts: Iterable<VisitCount>,
): void {
  const place = { workspaceId: live.workspaceId, formId: live.id, day: context.today };
  visitCounter.add(place, ipRateLimitKey(request.ip), counts);
}

/**
 * Parses what a page reports about its visit. Drops steps and questions that this form does not have, for
 * example those from an older version.
 */
export function parseVisitReport(form: Form, text: string): { change: ProgressChange; byScript: boolean } {
  const questions = new Set<string>(listQuestions(form).map(({ element }) => element.attrs.id));
  const dropUnknown = ({ steps, question }: VisitProgress): VisitProgress => ({
    steps: [...new Set(steps.filter((step) => Number.isInteger(step) && form.children[step] !== undefined))],
    question: questions.has(question) ? question : '',
  });
  const reported = parseProgressChange(text);
  const was = dropUnknown(reported.was);
  const is = dropUnknown(reported.is);
  // The new path continues from the path counted so far.
  const steps = [...new Set([...was.steps, ...is.steps])];
  const change = { was, is: { steps, question: is.question || was.question } };
  return { change, byScript: text.includes('|') };
}

/** A group always has a row, so a row counts as answered only if one of its cells is filled in. */
const isAnswered = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((row) => (isRecord(row) ? Object.values(row).some((cell) => !isBlank(cell)) : true))
    : !isBlank(value);

/**
 * Derives the progress of a visit without a script: the last answered question, and the steps that were
 * shown.
 */
export function deriveVisitProgress(
  form: Form,
  raw: RawAnswers,
  steps: readonly number[],
  before = noVisitProgress,
): VisitProgress {
  const answered = listQuestions(form).findLast(({ element }) =>
    isAnswered(getProperty(raw, element.attrs.id)),
  );
  const question = answered?.element.attrs.id ?? before.question;
  return steps.reduce(addReachedStep, { ...before, question });
}

type Context = OpenVisitServices & CountVisitServices & { readonly config: { readonly publicUrl: string } };

/** The size limit of a report in bytes: enough for the longest path through every step of a form. */
const bodyLimit = 16_384;

/**
 * Adds `POST /f/<id>/visit`: the page's script reports the progress of a visit in the control `_visit` when
 * the page is hidden or left. Only the counts are stored. The response is 204 whether or not the visit
 * counts, so that abusers learn nothing.
 */
export function visitRoute(server: Server, context: Context): void {
  server.post('/f/:id/visit', { bodyLimit }, async (request: FormRequest, reply) => {
    const visit = await openVisitEvenIfClosed(context, request);
    const report = request.body instanceof URLSearchParams ? request.body.get(visitControl) : null;
    if (report === null) throw new ApiError('bad_request', `Send the field "${visitControl}" of the page.`);
    const isOurs = getPostSource(request, visit.live.settings, context.config.publicUrl).kind === 'own';
    // Only pages of counted visits send reports, so the user agent is not checked again.
    if (isOurs && mayCountVisits(visit.live.settings, request.headers))
      countVisitProgress(context, visit, request, parseVisitReport(visit.live.form, report).change, true);
    return reply.code(204).send();
  });
  refuseOtherMethods(server, '/f/:id/visit', ['POST']);
}
