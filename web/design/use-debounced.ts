import { useEffect, useState } from 'react';

/**
 * Returns a value after it has not changed for a moment, so that typing does not trigger a request per
 * character.
 */
export function useDebounced<Value>(value: Value, pauseMs = 350): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return settled;
}
