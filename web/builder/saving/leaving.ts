const leaving = new Map<string, Promise<unknown>>();

/** Remembers the save that a screen sent when it was left, until it is answered. */
export function noteLeaving(formId: string, save: Promise<unknown>): void {
  const done = save.finally(() => {
    if (leaving.get(formId) === done) leaving.delete(formId);
  });
  leaving.set(formId, done);
}

/** Waits for it, so that whoever comes back at once does not open what the save replaces. */
export async function afterLeaving(formId: string): Promise<void> {
  await leaving.get(formId);
}
