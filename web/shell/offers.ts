import { createContext, useContext, useEffect } from 'react';
import type { IconName } from '../design/icon.tsx';

/** Something that can be done on the screen that is open. */
export type Offer = {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly icon: IconName;
  readonly run: () => void;
};
export type Offered = { readonly title: string; readonly offers: readonly Offer[] };

/** What the screen that is open offers at the moment when it is asked. */
export const OffersContext = createContext<{ current: (() => Offered) | undefined }>({ current: undefined });

/** Has the finder list, beside where one can go, what can be done on this screen. */
export function useOffers(list: () => Offered): void {
  const place = useContext(OffersContext);
  useEffect(() => {
    place.current = list;
    return () => {
      if (place.current === list) place.current = undefined;
    };
  });
}
