import { createContext, useContext, useEffect } from 'react';
import type { IconName } from '../design/icon.tsx';

/** An action of the open screen. */
export type FinderAction = {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly icon: IconName;
  readonly run: () => void;
};
export type FinderActions = { readonly title: string; readonly offers: readonly FinderAction[] };

/** Returns the actions of the open screen at the time of the call. */
export const FinderActionsContext = createContext<{ current: (() => FinderActions) | undefined }>({
  current: undefined,
});

/** Adds the actions of this screen to the finder. */
export function useFinderActions(list: () => FinderActions): void {
  const place = useContext(FinderActionsContext);
  useEffect(() => {
    place.current = list;
    return () => {
      if (place.current === list) place.current = undefined;
    };
  });
}
