import { useCallback, useLayoutEffect, useRef } from 'react';

type Find = () => HTMLElement | null | undefined;

/**
 * Moves the focus on when a button is replaced by what it opened. Otherwise, keyboard users would start again
 * at the top of the page.
 * @returns a function to call on press, with a way to find the new element, which is tried after each render.
 */
export function useFocusHandover(): (find: Find) => void {
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
