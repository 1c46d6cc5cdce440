import { useSyncExternalStore } from 'react';

/** Makes a hook that says whether the window, or who looks at it, is as a media query wants it. */
function windowIs(query: string): () => boolean {
  const list = matchMedia(query);
  const subscribe = (listener: () => void): (() => void) => {
    list.addEventListener('change', listener);
    return () => list.removeEventListener('change', listener);
  };
  return () => useSyncExternalStore(subscribe, () => list.matches);
}

/** Whether the window is wide enough for two things beside each other. */
export const useWide = windowIs('(min-width: 1024px)');

/** Whether the window is a phone's: what lies beside the work elsewhere comes over it, from below. */
export const useNarrow = windowIs('(max-width: 767px)');

export const usePrefersDark = windowIs('(prefers-color-scheme: dark)');
