import { useCallback, useLayoutEffect, useRef } from 'react';

type Find = () => HTMLElement | null | undefined;

/**
 * Gives the focus on when what had it goes: a button that is replaced by what it opened takes the focus with it, and a
 * keyboard begins again at the top of the page.
 * @returns to be called on the press, with how to find what comes instead; it is asked after each drawing until it is there.
 */
export function useHandOver(): (find: Find) => void {
  const waiting = useRef<Find>(undefined);
  useLayoutEffect(() => {
    const heir = waiting.current?.();
    if (!heir) return;
    waiting.current = undefined;
    heir.focus();
  });
  return useCallback((find: Find) => {
    waiting.current = find;
  }, []);
}
