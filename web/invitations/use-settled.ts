import { useEffect, useState } from 'react';

/** Long enough that a person who types is not answered letter by letter. */
const pauseMs = 350;

/** A value once it has not changed for a moment. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
