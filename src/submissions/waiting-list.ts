import type { Answers } from '#ast/answers/check-answers.ts';
import { getProperty } from '#ast/basics/json.ts';
import type { Settings } from '#ast/settings.ts';
import { boolean, columns, json, onlyRow, type Queryable, statement } from '#kit/statement.ts';
import { countLeft, findLiveVersion, hasQuotas, type QuotaForm, type RemainingQuotas } from './quotas.ts';

/** The places that are left: of the response limit, and of each option with a capacity. */
type FreePlaces = { left: number; readonly options: ReadonlyMap<string, Map<string, number>> };

/** A form whose places are counted. `limited` is its live version, if that has quotas. */
type ListedForm = {
  readonly workspaceId: string;
  readonly id: string;
  readonly settings: Settings;
  readonly limited: QuotaForm | undefined;
};

const fullOptions = columns('elements options:texts');

/** Returns the SQL condition that answers choose an option of `full_option (element_id, option)`. */
const choosesSql = (answers: string): string => {
  const answer = `${answers} -> full_option.element_id`;
  return `full_option.option = any (array(select json_array_elements_text(
    case when json_typeof(${answer}) = 'array' then ${answer} else json_build_array(${answer}) end)))`;
};

const ofList = `s.workspace_id = $workspace_id and s.form_id = $form_id and s.status = 'waiting' and s.trashed_at is null`;

/** Lists the waiting submissions that choose no full option, in their order. */
const listWaiting = statement(
  ['workspace_id form_id after:timestamp? limit', fullOptions],
  ['id completed_at', { answers: json<Answers>() }],
)`
  select s.id, s.completed_at, s.answers from submissions s
  where ${ofList} and ($after is null or s.completed_at > $after) and not exists (
    select from unnest($elements, $options) as full_option (element_id, option) where ${choosesSql('s.answers')})
  order by s.completed_at limit $limit`;

/**
 * Counts the submissions up to a waiting one: those that wait for the form, or for one of its full options. Suspected
 * spam without a place is counted as if it waited.
 */
const countUpTo = statement(['workspace_id form_id id', { is_full: boolean }, fullOptions], 'count')`
  with full_option as (select * from unnest($elements, $options) as given (element_id, option)),
  mine as (
    select s.id, s.answers, s.completed_at as at, 0 as self from submissions s where ${ofList} and s.id = $id
    union all
    select h.id, h.answers, h.created_at, 1 from held_submissions h
    where h.workspace_id = $workspace_id and h.form_id = $form_id and h.id = $id
      and ($is_full or exists (select from full_option where ${choosesSql('h.answers')})))
  select mine.self + count(s.id) as count from mine
  left join submissions s on ${ofList} and s.completed_at <= mine.at
    and ($is_full or s.id = mine.id or exists (
      select from full_option where ${choosesSql('s.answers')} and ${choosesSql('mine.answers')}))
  group by mine.self`;

/** Times on the list are in milliseconds and differ, so they order it. */
const findNextTime = statement('workspace_id form_id now', 'at')`
  select greatest($now, max(s.completed_at) + interval '1 ms') as at from submissions s where ${ofList}`;

/** Finds the live version of a form, whose limits count its places. */
export async function readListedForm(
  db: Queryable,
  { workspaceId, formId: id }: { workspaceId: string; formId: string },
): Promise<ListedForm | undefined> {
  const found = onlyRow(await findLiveVersion(db, { workspace_id: workspaceId, form_id: id }));
  if (!found) return undefined;
  const { version, structure: form, settings } = found;
  return {
    workspaceId,
    id,
    settings,
    limited: hasQuotas(form) ? { workspaceId, id, version, form } : undefined,
  };
}

/**
 * Runs as a separate statement after the lock: a statement sees what was committed before it began, not what
 * was committed while it waited.
 */
const countCompleted = statement('workspace_id form_id', 'completed')`
  select coalesce(sum(count), 0)::bigint as completed from submission_counts
  where workspace_id = $workspace_id and form_id = $form_id and status = 'completed'`;

/** Returns how many more submissions the response limit allows; infinity if the form has no limit. */
export async function countLeftOfLimit(
  db: Queryable,
  live: Pick<ListedForm, 'workspaceId' | 'id' | 'settings'>,
): Promise<number> {
  const maximum = live.settings.max_submissions;
  if (maximum === undefined) return Number.POSITIVE_INFINITY;
  const [count] = await countCompleted(db, { workspace_id: live.workspaceId, form_id: live.id });
  return maximum - count!.completed;
}

async function countFreePlaces(db: Queryable, form: ListedForm): Promise<FreePlaces> {
  const options: RemainingQuotas = form.limited ? await countLeft(db, form.limited) : new Map();
  return {
    left: await countLeftOfLimit(db, form),
    options: new Map([...options].map(([element, left]) => [element, new Map(left)])),
  };
}

const listFullOptions = ({ options }: FreePlaces) => {
  const full = [...options].flatMap(([element, left]) =>
    [...left].flatMap(([option, count]) => (count > 0 ? [] : [{ element, option }])),
  );
  return { elements: full.map(({ element }) => element), options: full.map(({ option }) => option) };
};

/** Lists the options with a capacity that answers choose, each with the places left by option. */
const listChoices = (
  { options }: FreePlaces,
  answers: Answers,
): { left: Map<string, number>; option: string }[] =>
  [...options].flatMap(([element, left]) =>
    [getProperty(answers, element)]
      .flat()
      .flatMap((option) => (typeof option === 'string' && left.has(option) ? [{ left, option }] : [])),
  );

const hasPlaces = (free: FreePlaces, answers: Answers): boolean =>
  free.left > 0 && listChoices(free, answers).every(({ left, option }) => left.get(option)! > 0);

function reserve(free: FreePlaces, answers: Answers): void {
  free.left -= 1;
  for (const { left, option } of listChoices(free, answers)) left.set(option, left.get(option)! - 1);
}

/** The number of waiting submissions that one statement reads. */
const batchSize = 500;

/**
 * Finds the waiting submissions that get the free places of a form, in their order. The result is exact under
 * the form lock. @returns the IDs of at most `most` submissions, and the places that stay free after them.
 */
export async function findPromotable(
  db: Queryable,
  form: ListedForm,
  most = Number.POSITIVE_INFINITY,
): Promise<{ ids: readonly string[]; free: FreePlaces }> {
  const free = await countFreePlaces(db, form);
  const key = { workspace_id: form.workspaceId, form_id: form.id };
  const ids: string[] = [];
  let after: Date | null = null;
  for (let isDone = false; !isDone && free.left > 0 && ids.length < most; ) {
    const batch: Awaited<ReturnType<typeof listWaiting>> = await listWaiting(db, {
      ...key,
      after,
      limit: batchSize,
      ...listFullOptions(free),
    });
    for (const { id, answers } of batch) {
      if (ids.length >= most || !hasPlaces(free, answers)) continue;
      reserve(free, answers);
      ids.push(id);
    }
    isDone = batch.length < batchSize;
    after = batch.at(-1)?.completed_at ?? after;
  }
  return { ids, free };
}

/**
 * Decides under the form lock whether submitted answers get a place or join the waiting list, behind everyone
 * who waits for one of their places.
 * @param at the time of the submit. A time on the list is later than all others on it.
 */
export async function admitAnswers(
  db: Queryable,
  form: ListedForm,
  answers: Answers,
  at: Date,
): Promise<{ status: 'completed' | 'waiting'; at: Date }> {
  const { settings, limited } = form;
  if (!settings.waiting_list || (settings.max_submissions === undefined && !limited))
    return { status: 'completed', at };
  if (hasPlaces((await findPromotable(db, form)).free, answers)) return { status: 'completed', at };
  const list = { workspace_id: form.workspaceId, form_id: form.id, now: at };
  return { status: 'waiting', at: (await findNextTime(db, list))[0]!.at };
}

/**
 * Returns the position of a submission on the waiting list, counted from 1: among all if the form is full,
 * otherwise among those that wait for one of its options. Undefined if it is not waiting, and for suspected spam
 * that would have a place.
 */
export async function findPosition(
  db: Queryable,
  { workspaceId, formId, id }: { workspaceId: string; formId: string; id: string },
): Promise<number | undefined> {
  const form = await readListedForm(db, { workspaceId, formId });
  if (!form) return undefined;
  const free = await countFreePlaces(db, form);
  const list = { workspace_id: workspaceId, form_id: formId, id };
  const [counted] = await countUpTo(db, { ...list, is_full: free.left <= 0, ...listFullOptions(free) });
  return counted?.count;
}

/** Returns the IDs of a submission. */
export const idsOf = ({ live, id }: { live: { workspaceId: string; id: string }; id: string }) => ({
  workspaceId: live.workspaceId,
  formId: live.id,
  id,
});

/** The status that the sender of suspected spam may be told. */
export const statusOfSpam = ({ waiting_list }: Settings): 'waiting' | 'completed' =>
  waiting_list ? 'waiting' : 'completed';

/** Returns the position of a stored submission with this status, if it is waiting. */
export async function describeWait(
  db: Queryable,
  place: { workspaceId: string; formId: string; id: string },
  status: string,
): Promise<{ position?: number }> {
  const position = status === 'waiting' ? await findPosition(db, place) : undefined;
  return position === undefined ? {} : { position };
}
