const storageKey = `formloom ${location.pathname}${location.search}`;

/** Returns this window's storage. Browsers may deny it, especially to framed pages. */
function windowStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    // Without storage, a reload begins with an empty form, as it does without a script.
    return undefined;
  }
}

let isOver = false;

/**
 * Stores a text for this page until its window is closed. Returns false if the storage is full, and keeps the
 * previous text.
 */
export function storePageState(text: string): boolean {
  try {
    if (!isOver) windowStorage()?.setItem(storageKey, text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the stored text after a reload or going back. A visitor who follows a link begins with an empty
 * form, because on a shared computer the answers may belong to another person.
 */
export function readStoredPageState(): string | undefined {
  const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return visit?.type === 'navigate' ? undefined : (windowStorage()?.getItem(storageKey) ?? undefined);
}

/** Permanently deletes the stored text after the answers were sent. */
export function clearStoredPageState(): void {
  isOver = true;
  windowStorage()?.removeItem(storageKey);
}
