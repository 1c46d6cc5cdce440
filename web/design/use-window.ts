import { useSyncExternalStore } from 'react';

/** Creates a hook that returns whether a media query matches. */
function windowIs(query: string): () => boolean {
  const list = matchMedia(query);
  const subscribe = (listener: () => void): (() => void) => {
    list.addEventListener('change', listener);
    return () => list.removeEventListener('change', listener);
  };
  return () => useSyncExternalStore(subscribe, () => list.matches);
}

/** Whether two panels fit next to each other. */
export const useWide = windowIs('(min-width: 1024px)');

/** Whether the window is as narrow as a phone's. Side panels then open as a sheet from below. */
export const useNarrow = windowIs('(max-width: 767px)');

export const usePrefersDark = windowIs('(prefers-color-scheme: dark)');
