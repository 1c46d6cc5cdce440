const storageKey = `formloom ${location.pathname}${location.search}`;

/** Returns this window's storage. Browsers may deny it, especially to framed pages. */
function windowStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    // A reload then begins with an empty form, as without a script.
    return undefined;
  }
}

let isOver = false;

/** Keeps a text for this page while its window is open. */
export function storePageState(text: string): void {
  if (!isOver) windowStorage()?.setItem(storageKey, text);
}

/**
 * Returns the kept text after a reload or going back. A visitor who follows a link begins with an empty form:
 * on a shared computer, the answers may be another person's.
 */
export function readStoredPageState(): string | undefined {
  const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return visit?.type === 'navigate' ? undefined : (windowStorage()?.getItem(storageKey) ?? undefined);
}

/** Deletes the kept text for good after the answers were sent. */
export function clearStoredPageState(): void {
  isOver = true;
  windowStorage()?.removeItem(storageKey);
}
