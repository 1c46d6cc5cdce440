import { useEffect, useState } from 'react';
import { sayCount } from '#ast/say-count.ts';

/** Counts down from `seconds` (begins anew when they change) to 0; 0 when there is nothing to wait for. */
export function useCountdown(seconds: number | undefined): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    if (seconds === undefined) {
      setLeft(0);
      return undefined;
    }
    const end = Date.now() + seconds * 1000;
    const look = (): void => setLeft(Math.max(0, Math.ceil((end - Date.now()) / 1000)));
    look();
    const timer = setInterval(look, 250);
    return () => clearInterval(timer);
  }, [seconds]);
  return left;
}

export const sayWait = (seconds: number): string => {
  if (seconds > 5_400)
    return `Too many tries. Try again in ${sayCount(Math.round(seconds / 3_600), 'hour')}.`;
  if (seconds > 90) return `Too many tries. Try again in ${sayCount(Math.round(seconds / 60), 'minute')}.`;
  return `Too many tries. Try again in ${sayCount(seconds, 'second')}.`;
};
