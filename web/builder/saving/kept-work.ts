import { isRecord } from '#ast/json.ts';
import type { FormDocument } from './form-document.ts';
import type { Save } from './autosave.ts';

/** Edits that the server does not have yet, kept in this browser under the person and the form. */
export type KeptWork = Save & { readonly kept_at: string };

const keyOf = (userId: string, formId: string): string => `formloom.unsaved.${userId}.${formId}`;

/**
 * What an earlier visit could not save; undefined for none, and for what cannot be read.
 * @param settings those of the service, for what was kept when the builder did not keep any.
 */
export function readKeptWork(
  userId: string,
  formId: string,
  settings: FormDocument['settings'],
): KeptWork | undefined {
  const text = localStorage.getItem(keyOf(userId, formId));
  if (text === null) return undefined;
  try {
    const kept: unknown = JSON.parse(text);
    if (!isRecord(kept) || typeof kept['base_version'] !== 'number' || !isRecord(kept['structure']))
      return undefined;
    return {
      // What was kept when it was known by a number rests on what nothing is any more: the person decides.
      etag: typeof kept['etag'] === 'string' ? kept['etag'] : '"0"',
      base_version: kept['base_version'],
      structure: kept['structure'] as FormDocument['structure'],
      settings: isRecord(kept['settings']) ? kept['settings'] : settings,
      kept_at: String(kept['kept_at']),
    };
  } catch {
    // Only this page writes there; what is broken was cut off and holds nothing to rescue.
    return undefined;
  }
}

/** Keeps the edits, or lets go of them. A browser that has no room left for them says so in its return value. */
export function keepWork(userId: string, formId: string, save: Save | undefined, now: Date): boolean {
  const key = keyOf(userId, formId);
  try {
    if (save)
      localStorage.setItem(key, JSON.stringify({ ...save, kept_at: now.toISOString() } satisfies KeptWork));
    else localStorage.removeItem(key);
    return true;
  } catch {
    return false;
  }
}
