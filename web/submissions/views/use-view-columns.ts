import { useQuery } from '@tanstack/react-query';
import { queryClient } from '../../api/query-client.ts';
import type { FormPlace } from '../queries.ts';
import { type TableSettings, usualSettings, useTableSettings } from '../table/table-settings.ts';
import { savedViewsQuery } from './saved-view.ts';

/** How the table is arranged, of the person or of the saved view that is shown. */
export type ViewColumns = {
  /** Undefined while they are on their way. */
  settings: TableSettings | undefined;
  change: (change: Partial<TableSettings>) => void;
  /** Whether they are others than those of the saved view. */
  areOther: boolean;
  /** Those of a saved view again, unless they were changed since they were `seen`. */
  forget: (id: string | undefined, seen: TableSettings) => void;
};

/** What was changed in a saved view and not saved: it stays in this window. */
const draftKey = (id: string | undefined) => ['view-columns', id];

/** A person's own arrangement is theirs, and that of a saved view everybody's: what is changed there waits to be saved. */
export function useViewColumns(form: FormPlace, savedId: string | undefined): ViewColumns {
  const [own, changeOwn] = useTableSettings(form);
  const { data: views } = useQuery(savedViewsQuery(form));
  const { data: draft = null } = useQuery<TableSettings | null>({
    queryKey: draftKey(savedId),
    queryFn: () => null,
    staleTime: Infinity,
    gcTime: Infinity,
  });
  const saved = views?.find(({ id }) => id === savedId)?.columns;
  if (savedId === undefined || saved === null || saved === undefined)
    return {
      settings: savedId !== undefined && !views ? undefined : own,
      change: changeOwn,
      areOther: false,
      forget,
    };
  return {
    settings: draft ?? saved,
    change: (part) =>
      queryClient.setQueryData(draftKey(savedId), { ...usualSettings, ...(draft ?? saved), ...part }),
    areOther: draft !== null && JSON.stringify(draft) !== JSON.stringify({ ...usualSettings, ...saved }),
    forget,
  };
}

function forget(id: string | undefined, seen: TableSettings): void {
  queryClient.setQueryData<TableSettings | null>(draftKey(id), (now) => (now === seen ? null : now));
}
