import { createContext, useContext, useEffect } from 'react';
import type { IconName } from '../design/icon.tsx';

/** An action of the open screen. */
export type Offer = {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  readonly icon: IconName;
  readonly run: () => void;
};
export type Offered = { readonly title: string; readonly offers: readonly Offer[] };

/** Returns the actions of the open screen at the time of the call. */
export const OffersContext = createContext<{ current: (() => Offered) | undefined }>({ current: undefined });

/** Adds the actions of this screen to the finder. */
export function useOffers(list: () => Offered): void {
  const place = useContext(OffersContext);
  useEffect(() => {
    place.current = list;
    return () => {
      if (place.current === list) place.current = undefined;
    };
  });
}
