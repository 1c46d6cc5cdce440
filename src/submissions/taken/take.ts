import { isDeepStrictEqual } from 'node:util';
import { type AnswerError, sayInEnglish } from '#ast/answers.ts';
import { problemOf } from '#ast/answers/fill.ts';
import type { BrokenRule } from '#ast/rules/problem.ts';
import type { Form } from '#ast/tree.ts';
import { type Database, transaction } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { gather } from '#kit/gather.ts';
import { only, type Queryable } from '#kit/statement.ts';
import { lockFormForSubmit } from '../queries.ts';
import { isLimited, type Limits, limitsOf } from './limits-of.ts';
import {
  countOptions,
  countOthers,
  findLiveVersion,
  findTakenVersion,
  joinTurn,
  listVersionsBetween,
  setTakenVersion,
  writeManyTaken,
  writeTaken,
} from './queries.ts';

/** The live version of a form: its limits hold for every submission to it. */
export type LimitedForm = {
  readonly workspaceId: string;
  readonly id: string;
  readonly version: number;
  readonly form: Form;
};

/** An answer that somebody else has given, or an option without a place: what was to be written is not. */
export class AnswersTaken extends ApiError {
  readonly problems: readonly AnswerError[];

  constructor(problems: readonly AnswerError[]) {
    super('validation_error', undefined, { errors: [...problems] });
    this.problems = problems;
  }
}

/**
 * The live version of a form that takes something only so many times, with its turn (lockFormForSubmit) until the
 * transaction ends; undefined of any other form, whose turn is joined: what is written now is there for whoever counts when
 * such a version comes. To be asked for before rows are locked: a submit takes its turn first.
 */
export async function takeTurn(
  db: Queryable,
  { workspaceId, formId }: { workspaceId: string; formId: string },
): Promise<LimitedForm | undefined> {
  const row = { workspace_id: workspaceId, form_id: formId };
  for (;;) {
    const live = only(await findLiveVersion(db, row));
    if (!live) return undefined;
    const { version, structure: form } = live;
    const limited = isLimited(form) ? { workspaceId, id: formId, version, form } : undefined;
    if (limited) await lockFormForSubmit(db, { form_id: formId });
    // Another version may have come while the turn was waited for.
    if (only(await joinTurn(db, row))?.version !== version) continue;
    if (limited) await bringUpToDate(db, limited);
    return limited;
  }
}

/**
 * Writes down what a submission takes as it is stored now, and frees what it does not take any more. Exact under
 * parallel submits, in the caller's transaction, which has the form's turn. What it took before stays its own, also
 * where a limit was set since that it would not meet.
 * @throws AnswersTaken when something is taken that it did not take before: its transaction must not be committed.
 */
export async function takeAnswers(db: Queryable, live: LimitedForm, id: string): Promise<void> {
  const limits = limitsOf(live.form);
  const taken = await writeTaken(db, { ...rowOf(live), ...asked(limits), id });
  if (taken.length === 0) return;
  const others = await countOthers(db, {
    ...rowOf(live),
    id,
    elements: taken.map(({ element_id: element }) => element),
    values: taken.map(({ value }) => value),
  });
  const problems = [...limits.elements].flatMap(([element, input]): AnswerError[] =>
    others
      .filter(({ element_id: id }) => id === element)
      .flatMap(({ value, count }) => brokenBy(limits, element, value, count) ?? [])
      .map((broken) => sayInEnglish(live.form, { field: element, problem: problemOf(input, broken) })),
  );
  if (problems.length > 0) throw new AnswersTaken(problems);
}

/** @param count how many others take it. */
function brokenBy(
  { options }: Limits,
  element: string,
  value: string,
  count: number,
): BrokenRule | undefined {
  const found = options.find((option) => option.element === element && option.option === value);
  if (!found) return { rule: 'taken' };
  return count < found.capacity ? undefined : { rule: 'full', values: { option: found.label } };
}

/** Where nobody can give another answer: what was to be done is not. */
export const refuseTaken =
  (what: string) =>
  (error: unknown): never => {
    if (!(error instanceof AnswersTaken)) throw error;
    const found = error.problems.map(({ message }) => message).join(' ');
    throw new ApiError('conflict', `${what}, as others took its place meanwhile. ${found}`);
  };

/** By element and option, how many places are left; options that take any number are not among them. */
export type Places = ReadonlyMap<string, ReadonlyMap<string, number>>;

export const noPlaces: Places = new Map();

/** What counts the places of a database's forms. */
const counters = new WeakMap<Database, (live: LimitedForm) => Promise<Places>>();

/**
 * The places that a form has left, counted after they were asked for. Visitors who come together share a count: of
 * 100,000 choices it takes some 70 ms.
 */
export function findPlaces(database: Database, live: LimitedForm): Promise<Places> {
  if (limitsOf(live.form).options.length === 0) return Promise.resolve(noPlaces);
  const count =
    counters.get(database) ??
    gather(
      async (asked: readonly LimitedForm[]) => {
        const forms = new Map(asked.map((form) => [form.id, form]));
        const found = [...forms].map(async ([id, form]) => [id, await countPlaces(database, form)] as const);
        const places = new Map(await Promise.all(found));
        return asked.map(({ id }) => places.get(id) ?? noPlaces);
      },
      { most: 100, atOnce: 2 },
    );
  counters.set(database, count);
  return count(live);
}

async function countPlaces(database: Database, live: LimitedForm): Promise<Places> {
  const limits = limitsOf(live.form);
  const known = only(await findTakenVersion(database, rowOf(live)));
  if (known === undefined || known.version < live.version) {
    await transaction(database, async (client) => {
      await lockFormForSubmit(client, { form_id: live.id });
      await bringUpToDate(client, live);
    });
  }
  const elements = [...new Set(limits.options.map(({ element }) => element))];
  const counted = await countOptions(database, { ...rowOf(live), elements });
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

/** Submissions that are counted anew by one statement, and versions that are compared, at most. */
const batchSize = 5_000;
const mostVersions = 20;

/**
 * Writes down what all submissions take, where that was not done by this version of the form and it counts other
 * elements or options than the versions since then; nothing where a later version did. In the form's turn, and before anything else is written: of what a
 * submission took before nothing is refused.
 */
export async function bringUpToDate(db: Queryable, live: LimitedForm): Promise<void> {
  const known = only(await findTakenVersion(db, rowOf(live)));
  if (known !== undefined && known.version >= live.version) return;
  const counted = asked(limitsOf(live.form));
  const isCounted = known !== undefined && (await countedAll(db, live, known.version, counted));
  let after = '00000000-0000-0000-0000-000000000000';
  let isDone = isCounted;
  while (!isDone) {
    const last = only(await writeManyTaken(db, { ...rowOf(live), ...counted, after, limit: batchSize }));
    isDone = last === undefined || last.count < batchSize;
    after = last?.id ?? after;
  }
  await setTakenVersion(db, { ...rowOf(live), version: live.version });
}

/** Whether every version from one on to the live one counted what the live one counts. */
async function countedAll(
  db: Queryable,
  live: LimitedForm,
  from: number,
  counted: ReturnType<typeof asked>,
): Promise<boolean> {
  if (live.version - from > mostVersions) return false;
  const versions = await listVersionsBetween(db, { ...rowOf(live), from, to: live.version });
  return versions.every(({ structure }) => isDeepStrictEqual(asked(limitsOf(structure)), counted));
}

const rowOf = ({ workspaceId, id }: LimitedForm) => ({ workspace_id: workspaceId, form_id: id });

const asked = ({ unique, options }: Limits) => ({
  unique_elements: unique.map(({ element }) => element),
  ignored: unique.map(({ ignored }) => ignored),
  option_elements: options.map(({ element }) => element),
  options: options.map(({ option }) => option),
});
