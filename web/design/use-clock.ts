import { useEffect, useState } from 'react';

/** Renders the component at regular intervals, for countdowns. */
export function useRegularRerender(everyMs: number): void {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
