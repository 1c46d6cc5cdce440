import { newId, now } from '#kit/clock.ts';
import { attempt } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import type { Queryable } from '#kit/statement.ts';
import type { Vault } from '#kit/vault.ts';
import { giveStatus } from '../changes/edit.ts';
import type { FormKey, StoredSubmission } from '../changes/event.ts';
import { lockSubmissions } from '../changes/queries.ts';
import { removeRows } from '../changes/remove.ts';
import type { ChangedBy } from '../history/changed-by.ts';
import type { Difference } from '../history/differences.ts';
import type { SubmissionStatus } from '../queries.ts';
import { mostTags } from '../tags/tags.ts';
import { takeTurn } from '../taken/take.ts';
import { lockTrashedForRemoval } from '../trash/queries.ts';
import { restoreWithin, trashMany } from '../trash/trash.ts';
import { type BulkKind, type findBulkWork, lockUndone, tagSubmissions } from './queries.ts';

const byOf = ({ id, changed_by, api_key_id, through }: Asked): ChangedBy => ({
  changed_by,
  api_key_id,
  through,
  bulk_id: id,
});

type Asked = Awaited<ReturnType<typeof findBulkWork>>[number] & { vault: Vault };
/** Does it with some: how many there were, and how many deliveries that makes. */
type Work = (
  db: Queryable,
  key: FormKey,
  ids: string[],
  asked: Asked,
) => Promise<{ done: number; made: number }>;

type Lock = (
  db: Queryable,
  rows: { workspace_id: string; form_id: string; ids: string[] },
) => Promise<StoredSubmission[]>;

const removeThose =
  (lock: Lock): Work =>
  async (db, key, ids) => {
    const rows = await lock(db, { workspace_id: key.workspaceId, form_id: key.formId, ids });
    return { done: rows.length, made: await removeRows(db, key, rows) };
  };

/** What each kind of a change of many does with a batch, in the transaction that crosses it off the list. */
export const works: Readonly<Record<BulkKind, Work>> = {
  trash: async (db, key, ids, asked) => ({
    done: await trashMany(db, key, { ids, by: byOf(asked) }),
    made: 0,
  }),
  empty: removeThose(lockTrashedForRemoval),
  remove: removeThose(lockSubmissions),
  tag: (db, key, ids, asked) =>
    tagThose(db, key, { ids, added: asked.tags_added, removed: asked.tags_removed, by: byOf(asked) }),
  status: (db, key, ids, asked) =>
    giveStatuses(
      db,
      key,
      ids.map((id) => ({ id, status: asked.status! })),
      asked,
    ),
  async undo(db, key, ids, asked) {
    // A submit takes its turn before rows are locked.
    await takeTurn(db, key);
    const undone = await lockUndone(db, {
      workspace_id: key.workspaceId,
      form_id: key.formId,
      ids,
      bulk_id: asked.undoes!,
    });
    return undoings[asked.undone as keyof typeof undoings](db, key, undone, asked);
  },
};

async function tagThose(
  db: Queryable,
  key: FormKey,
  { by, ...tagging }: { ids: string[]; added: string[]; removed: string[]; by: ChangedBy },
): ReturnType<Work> {
  const tagged = await tagSubmissions(db, {
    workspace_id: key.workspaceId,
    form_id: key.formId,
    change_ids: tagging.ids.map(() => newId()),
    ...tagging,
    most: mostTags,
    ...by,
    now: now(),
  });
  return { done: tagged.length, made: 0 };
}

/** One after the other: what lacks an answer, or finds its place taken, stays as it is. */
async function giveStatuses(
  db: Queryable,
  key: FormKey,
  given: readonly { id: string; status: SubmissionStatus }[],
  asked: Asked,
): ReturnType<Work> {
  const limited = await takeTurn(db, key);
  const sum = { done: 0, made: 0 };
  for (const { id, status } of given) {
    const changing = { ...key, id, by: byOf(asked), limited };
    const made = await attempt(db, () => giveStatus(db, asked.vault, changing, status)).catch(unlessRefused);
    if (made === undefined) continue;
    sum.done += 1;
    sum.made += made;
  }
  return sum;
}

function unlessRefused(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}

/** What is done with what a change of each kind did. */
const undoings: Readonly<
  Record<
    'trash' | 'tag' | 'status',
    (
      db: Queryable,
      key: FormKey,
      undone: Awaited<ReturnType<typeof lockUndone>>,
      asked: Asked,
    ) => ReturnType<Work>
  >
> = {
  async trash(db, key, undone, asked) {
    const ids = undone.map(({ submission_id: id }) => id);
    const one = (work: () => Promise<void>) => attempt(db, work).catch(unlessRefused);
    return { done: await restoreWithin(db, key, { ids, by: byOf(asked) }, one), made: 0 };
  },
  async tag(db, key, undone, asked) {
    // Most of them got and lost the same.
    const alike = Map.groupBy(undone, (one) => JSON.stringify(tagsUndone(one)));
    let done = 0;
    for (const [tags, some] of alike) {
      const { added, removed } = JSON.parse(tags) as ReturnType<typeof tagsUndone>;
      const ids = some.map(({ submission_id: id }) => id);
      done += (await tagThose(db, key, { ids, added, removed, by: byOf(asked) })).done;
    }
    return { done, made: 0 };
  },
  status: (db, key, undone, asked) =>
    giveStatuses(
      db,
      key,
      undone.map(({ submission_id: id, changes }) => ({
        id,
        status: changes.find(({ part }) => part === 'status')!.from as SubmissionStatus,
      })),
      asked,
    ),
};

/** The tags that come back, and those that go, for a submission to be as it was; not those that somebody touched since. */
function tagsUndone({
  changes,
  later,
}: {
  changes: readonly Difference[];
  later: readonly (readonly Difference[])[];
}): ReturnType<typeof tagsMoved> {
  const { added, removed } = tagsMoved(changes);
  const touched = new Set(later.map(tagsMoved).flatMap((moved) => [...moved.added, ...moved.removed]));
  const isLeft = (tag: string): boolean => !touched.has(tag);
  return { added: removed.filter(isLeft), removed: added.filter(isLeft) };
}

/** The tags that a change gave, and those that it took. */
function tagsMoved(changes: readonly Difference[]): { added: string[]; removed: string[] } {
  const { from = [], to = [] } = (changes.find(({ part }) => part === 'tags') ?? {}) as {
    from?: string[];
    to?: string[];
  };
  return { added: to.filter((tag) => !from.includes(tag)), removed: from.filter((tag) => !to.includes(tag)) };
}
