import { isRecord } from '#ast/json.ts';
import { type FormDocument, isSameDocument } from './form-document.ts';
import type { Save } from './autosave.ts';

/** Edits that the server does not have yet, kept in this browser under the person, the form and the window. */
export type KeptWork = Save & { readonly kept_at: string };

/** This window, for as long as it shows this page: what it keeps is no other one's to remove. */
const here = Math.random().toString(36).slice(2);
let isHeld = false;

/** The windows of this browser that are open; none are known on a page without https. */
export async function listOpenWindows(): Promise<ReadonlySet<string>> {
  if (!isSecureContext) return new Set();
  // The browser lets go of it when the window closes, however it does.
  if (!isHeld) void navigator.locks.request(here, () => new Promise(() => undefined));
  isHeld = true;
  const { held = [] } = await navigator.locks.query();
  return new Set(held.flatMap(({ name }) => name ?? []));
}

/** The place of a person's unsaved edits of a form. Each window has its own there, and takes over that of a closed one. */
export function openKeptWork(
  { userId, formId }: { readonly userId: string; readonly formId: string },
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = localStorage,
  window = here,
) {
  const anywhere = `formloom.unsaved.${userId}.${formId}`;
  const own = `${anywhere}.${window}`;
  const read = (place: string): Record<string, unknown> | undefined => {
    try {
      const kept: unknown = JSON.parse(storage.getItem(place) ?? '');
      return isRecord(kept) ? kept : undefined;
    } catch {
      // Only this page writes there; what is broken was cut off and holds nothing to rescue.
      return undefined;
    }
  };
  const put = (work: KeptWork): boolean => {
    try {
      storage.setItem(own, JSON.stringify(work));
      return true;
    } catch {
      return false;
    }
  };
  return {
    /** Keeps the edits of this window, or lets go of them. A browser that has no room left for them says so in its return value. */
    keep(save: Save | undefined, now: Date): boolean {
      if (save) return put({ ...save, kept_at: now.toISOString() });
      storage.removeItem(own);
      return true;
    },
    /**
     * What an earlier visit could not save, newest first: it is this window's from then on. What the service has by now is let
     * go; undefined for none, and for what cannot be read.
     * @param open windows whose edits are their own.
     */
    take(draft: FormDocument, open: ReadonlySet<string>): KeptWork | undefined {
      const found = Object.keys(storage)
        .filter((place) => place === anywhere || place.startsWith(`${anywhere}.`))
        .filter((place) => place === own || !open.has(place.slice(anywhere.length + 1)))
        .flatMap((place) => {
          const kept = read(place);
          const work = kept && workOf(kept, draft.settings);
          return work ? [{ place, work }] : [];
        })
        .toSorted((one, other) => other.work.kept_at.localeCompare(one.work.kept_at));
      for (const { place, work } of found) {
        const isKnown = isSameDocument(work, draft);
        // Where there is no room for both it stays where it is.
        if (isKnown || (place !== own && put(work))) storage.removeItem(place);
        if (!isKnown) return work;
      }
      return undefined;
    },
  };
}

/** @param settings those of the service, for what was kept when the builder did not keep any. */
function workOf(
  { etag, base_version, structure, settings, kept_at }: Readonly<Record<string, unknown>>,
  ofService: FormDocument['settings'],
): KeptWork | undefined {
  if (typeof base_version !== 'number' || !isRecord(structure)) return undefined;
  return {
    // What was kept when it was known by a number rests on what nothing is any more: the person decides.
    etag: typeof etag === 'string' ? etag : '"0"',
    base_version,
    structure: structure as FormDocument['structure'],
    settings: isRecord(settings) ? settings : ofService,
    kept_at: String(kept_at),
  };
}
