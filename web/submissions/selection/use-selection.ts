import { useCallback, useState } from 'react';
import { filterOf, type ViewState } from '../view-state.ts';

const none: ReadonlySet<string> = new Set();

/** The submissions that were ticked. They stay over pages of one view, and are let go with it. */
export function useSelection(formId: string, view: ViewState) {
  const scope = JSON.stringify([formId, filterOf(view)]);
  const [kept, setKept] = useState({ scope, ids: none });
  const change = useCallback(
    (apply: (ids: Set<string>) => void) =>
      setKept((before) => {
        const ids = new Set(before.scope === scope ? before.ids : none);
        apply(ids);
        return { scope, ids };
      }),
    [scope],
  );
  return {
    ids: kept.scope === scope ? kept.ids : none,
    clear: () => setKept({ scope, ids: none }),
    select: useCallback(
      (id: string, isSelected: boolean) => change((ids) => (isSelected ? ids.add(id) : ids.delete(id))),
      [change],
    ),
    selectAll: (all: readonly string[], isSelected: boolean) =>
      change((ids) => {
        for (const id of all)
          if (isSelected) ids.add(id);
          else ids.delete(id);
      }),
  };
}
