import { useCallback, useState } from 'react';
import { filterOf, type ViewState } from '../view-state.ts';
import { changeSelection } from './change-selection.ts';

const none: ReadonlySet<string> = new Set();

/** The submissions that were ticked. They stay over pages of one view, and are let go with it. */
export function useSelection(formId: string, view: ViewState) {
  const scope = JSON.stringify([formId, filterOf(view)]);
  const [kept, setKept] = useState({ scope, ids: none });
  const select = useCallback(
    (ids: readonly string[], isSelected: boolean) =>
      setKept((before) => ({
        scope,
        ids: changeSelection(before.scope === scope ? before.ids : none, ids, isSelected),
      })),
    [scope],
  );
  return {
    ids: kept.scope === scope ? kept.ids : none,
    clear: () => setKept({ scope, ids: none }),
    select,
  };
}
