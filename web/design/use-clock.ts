import { useEffect, useState } from 'react';

/** Draws the component again every so often, for what counts down. */
export function useClock(everyMs: number): void {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
