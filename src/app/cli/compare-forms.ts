import { isRecord, isSameJson } from '#ast/json.ts';

/** One difference, for programs and for a line of its own. */
export type FormChange = {
  change: 'added' | 'removed' | 'changed' | 'moved';
  /** `form`, `step 1`, `status`, a setting, or an element by its id or its place. */
  what: string;
  /** The attribute. */
  name?: string;
  before?: unknown;
  after?: unknown;
};

type Part = { place: string; type: string; attrs: Readonly<Record<string, unknown>> };

/**
 * Everything in which a form's tree differs from another's. Elements are the same by their ids, what has none by its place
 * among its like.
 */
export function compareStructures(before: unknown, after: unknown): FormChange[] {
  const [old, fresh] = [partsOf(before), partsOf(after)];
  const kept = [...fresh.keys()].filter((what) => old.has(what));
  const isMoved = movedAmong(kept, [...old.keys()]);
  return [
    ...[...fresh].flatMap(([what, part]): FormChange[] => {
      const was = old.get(what);
      if (!was) return [{ change: 'added', what, after: part.type }];
      const type: FormChange[] =
        was.type === part.type
          ? []
          : [{ change: 'changed', what, name: 'type', before: was.type, after: part.type }];
      const moved: FormChange[] =
        was.place === part.place && !isMoved(what)
          ? []
          : [{ change: 'moved', what, before: was.place, after: part.place }];
      return [...type, ...compareValues(was.attrs, part.attrs, what), ...moved];
    }),
    ...[...old].flatMap(([what, { type }]): FormChange[] =>
      fresh.has(what) ? [] : [{ change: 'removed', what, before: type }],
    ),
  ];
}

/** The values in which two records differ, each of `what`, or each by its own name. */
export function compareValues(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  what?: string,
): FormChange[] {
  return Object.keys({ ...before, ...after })
    .filter((name) => !isSameJson(before[name], after[name]))
    .map((name) => ({
      change: 'changed',
      ...(what === undefined ? { what: name } : { what, name }),
      before: before[name] ?? null,
      after: after[name] ?? null,
    }));
}

/** Whether something stands no longer behind what it stood behind, among what was kept. */
function movedAmong(kept: readonly string[], before: readonly string[]): (what: string) => boolean {
  const stayed = before.filter((what) => kept.includes(what));
  const previous = (list: readonly string[], what: string): string | undefined =>
    list[list.indexOf(what) - 1];
  return (what) =>
    previous(kept, what) !== previous(stayed, what) && kept.indexOf(what) < stayed.indexOf(what);
}

/** Every node by what it is called, in reading order. It may be no valid tree. */
function partsOf(root: unknown): Map<string, Part> {
  const parts = new Map<string, Part>();
  const counts = new Map<string, number>();
  const visit = (node: unknown, place: string, kind: 'form' | 'step' | 'element'): void => {
    if (!isRecord(node)) return;
    const { type, attrs, children } = node;
    const known = isRecord(attrs) ? attrs : {};
    const called = kind === 'element' ? String(type) : kind;
    const hasId = kind === 'element' && typeof known['id'] === 'string';
    if (!hasId) counts.set(called, (counts.get(called) ?? 0) + 1);
    const what = hasId ? String(known['id']) : kind === 'form' ? kind : `${called} ${counts.get(called)}`;
    parts.set(what, { place, type: String(type), attrs: known });
    for (const child of Array.isArray(children) ? (children as unknown[]) : [])
      visit(child, what, kind === 'form' ? 'step' : 'element');
  };
  visit(root, '', 'form');
  return parts;
}
