const place = `formloom ${location.pathname}${location.search}`;

/** Returns this window's storage. Browsers may deny it, especially to framed pages. */
function memory(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    // A reload then begins with an empty form, as without a script.
    return undefined;
  }
}

let isOver = false;

/** Keeps a text for this page while its window is open. */
export function remember(text: string): void {
  if (!isOver) memory()?.setItem(place, text);
}

/**
 * Returns the kept text after a reload or going back. A visitor who follows a link begins with an empty form:
 * on a shared computer, the answers may be another person's.
 */
export function recall(): string | undefined {
  const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return visit?.type === 'navigate' ? undefined : (memory()?.getItem(place) ?? undefined);
}

/** Deletes the kept text for good after the answers were sent. */
export function forget(): void {
  isOver = true;
  memory()?.removeItem(place);
}
