import { useSyncExternalStore } from 'react';

/** Where the panel has room beside the table. */
const wide = matchMedia('(min-width: 1024px)');

const subscribe = (listener: () => void): (() => void) => {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
};

/** Whether the window is wide enough for two things beside each other. */
export const useWide = (): boolean => useSyncExternalStore(subscribe, () => wide.matches);
