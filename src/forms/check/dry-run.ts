import { effectiveForm } from '#ast/effective-form.ts';
import type { Queryable } from '#kit/statement.ts';
import type { Scope } from '#kit/operation.ts';
import type { Permission } from '#rules/permissions.ts';
import { requireForm } from '../require-form.ts';
import type { DryRun } from '../shapes.ts';
import { type Candidate, judgeForm } from './judge.ts';
import type { ChoiceOption } from '#ast/answers/options.ts';
import { isRecord, own } from '#ast/json.ts';
import { quote } from '#ast/problems.ts';
import { sayCount } from '#ast/say-count.ts';
import {
  type Form,
  isComposite,
  isInput,
  isRepeatable,
  matrixRowsOf,
  optionsOf,
  walkElements,
} from '#ast/tree.ts';
import { countStoredAnswers, scanLimit } from './answer-counts.ts';

type Impact = DryRun['impact'][number];
type Change = Omit<Impact, 'message' | 'answers'> & { readonly what: string };

/**
 * What a changed structure, complete or not, takes away from a form that is there, with the stored submissions that
 * answered it: exact up to 10,000 submissions, over the newest of them in a larger form. They keep their answers.
 * @param mayCount whether the caller may read submissions; the figures tell of them.
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
    return { ...change, answers, message: `${what}${sayAnswers(answers, counted?.scanned ?? 0)}.` };
  });
  return { impact, scanned: mayCount ? (counted?.scanned ?? 0) : null };
}

function sayAnswers(answers: number | null, scanned: number): string {
  if (answers === null) return '';
  return ` touches ${sayCount(answers, 'answer')}${scanned < scanLimit ? '' : ` of the newest ${scanned} submissions`}`;
}

/** What visitors could answer, and cannot any more or not in that way. */
function* findChanges(live: Form, structure: unknown): Generator<Change> {
  const kept = new Map(walkAny(structure));
  const gone = new Set<unknown>();
  for (const { element, group } of walkElements(live)) {
    const isGroup = isComposite(element) && isRepeatable(element);
    if (!isInput(element) && !isGroup) continue;
    const { id, label } = element.attrs;
    const now = kept.get(id);
    const named = quote(label);
    if (!now || now.group !== group?.attrs.id) {
      gone.add(element);
      // The rows go with their group.
      if (!group || !gone.has(group))
        yield { change: 'element_removed', element: id, what: `Removing ${named}` };
    } else if (now.type !== element.type) {
      yield { change: 'type_changed', element: id, what: `Making ${named} another type of element` };
    } else if (isInput(element)) {
      for (const row of missing(matrixRowsOf(element), now.rows))
        yield {
          change: 'row_removed',
          element: id,
          row: row.id,
          what: `Removing row ${quote(row.label)} of ${named}`,
        };
      for (const option of missing(optionsOf(element), now.options))
        yield {
          change: 'option_removed',
          element: id,
          option: option.id,
          what: `Removing option ${quote(option.label)} of ${named}`,
        };
    }
  }
}

/** Those of the options, or rows, that are not among these, which may be anything. */
function missing(options: readonly ChoiceOption[], now: readonly unknown[]): ChoiceOption[] {
  const kept = new Set(now.map((option) => (isRecord(option) ? own(option, 'id') : option)));
  return options.filter(({ id }) => !kept.has(id));
}

type AnyElement = {
  type: unknown;
  rows: readonly unknown[];
  options: readonly unknown[];
  group: string | undefined;
};

/** The elements of a structure that may be anything, by their ids. With a list instead of calls: it may be deep. */
function* walkAny(structure: unknown): Generator<[id: string, AnyElement]> {
  const open: { node: unknown; group: string | undefined }[] = [{ node: structure, group: undefined }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (!isRecord(next.node)) continue;
    const { type, attrs, children } = next.node;
    const known = isRecord(attrs) ? attrs : {};
    const id = own(known, 'id');
    const listAt = (name: string): readonly unknown[] => [own(known, name) ?? []].flat();
    if (typeof id === 'string')
      yield [id, { type, rows: listAt('rows'), options: listAt('options'), group: next.group }];
    const isGroup = own(known, 'repeatable') === true && typeof id === 'string';
    for (const node of Array.isArray(children) ? (children as unknown[]) : [])
      open.push({ node, group: isGroup ? id : next.group });
  }
}

/**
 * What a change of a form would be refused for, what is not good in it, and what it would take away from visitors of what
 * is live. Stores nothing.
 * @throws ApiError not_found.
 */
export async function dryRun(
  db: Queryable,
  scope: Pick<Scope, 'workspaceId' | 'may'> & { formId: string },
  candidate: Candidate,
): Promise<DryRun> {
  const { workspaceId, formId } = scope;
  const { structure } = await requireForm(db, { workspaceId, formId });
  // It was validated when it became the live version.
  const live = { workspaceId, formId, form: effectiveForm(structure) };
  const needed: Permission = 'submissions:read';
  const [judgement, impact] = await Promise.all([
    judgeForm(db, workspaceId, candidate),
    findImpact(db, live, candidate.structure, scope.may(needed)),
  ]);
  return { ...judgement, ...impact };
}
