import { useEffect, useRef, useState } from 'react';

type Left = {
  /** Whether the field was left after the last change, so that its error may be shown. */
  readonly isLeft: boolean;
  /** For changes: the error waits again. */
  readonly enter: () => void;
  /** For `onBlur` and submits. */
  readonly leave: () => void;
};

/**
 * Tracks whether a person has left a field. A press that takes the focus ends first, because the error could
 * move what is being pressed away from the pointer.
 * @param first whether an error of the first value is shown.
 */
export function useLeft(first: boolean): Left {
  const [isLeft, setLeft] = useState(first);
  const isPressing = useRef(false);
  const isLeaving = useRef(false);
  useEffect(() => {
    const listening = new AbortController();
    const options = { capture: true, signal: listening.signal };
    const end = (): void => {
      // The click follows the release in the same task.
      if (isLeaving.current) setTimeout(() => setLeft(true));
      isPressing.current = isLeaving.current = false;
    };
    addEventListener('pointerdown', () => (isPressing.current = true), options);
    addEventListener('pointerup', end, options);
    // The browser cancels a press when it becomes a scroll.
    addEventListener('pointercancel', end, options);
    return () => listening.abort();
  }, []);
  return {
    isLeft,
    enter: () => setLeft(false),
    leave: () => {
      if (!isPressing.current) return setLeft(true);
      isLeaving.current = true;
    },
  };
}
