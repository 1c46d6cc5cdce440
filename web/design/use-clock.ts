import { useEffect, useState } from 'react';

/** Draws the component again every so often, for words such as "3 minutes ago". */
export function useClock(everyMs = 10_000): void {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
