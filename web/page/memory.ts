const place = `formloom ${location.pathname}${location.search}`;

/** This window's own memory; a browser may refuse it, to a framed page above all. */
function memory(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    // Then a reload begins anew, as it does without script.
    return undefined;
  }
}

let isOver = false;

/** Keeps a text for this page, as long as its window is open. */
export function remember(text: string): void {
  if (!isOver) memory()?.setItem(place, text);
}

/**
 * What was kept, when the visitor reloads the page or comes back to it. Somebody who comes by a link begins anew: in a
 * shared browser the answers may be another's.
 */
export function recall(): string | undefined {
  const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return visit?.type === 'navigate' ? undefined : (memory()?.getItem(place) ?? undefined);
}

/** Forgets it for good, when the answers have been sent: nobody finds them in this window. */
export function forget(): void {
  isOver = true;
  memory()?.removeItem(place);
}
