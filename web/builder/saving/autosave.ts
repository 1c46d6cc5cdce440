import type { ReplyOf } from '#app/operations/operations.ts';
import { isRecord, isSameJson } from '#ast/basics/json.ts';
import type { FormNode } from '#ast/form/tree.ts';
import { mergeSettings, type Settings } from '#ast/settings.ts';
import { ApiProblem } from '../../api/client.ts';
import { type ChangePrecondition, callOperation } from '../../api/operations.ts';
import { refreshSession } from '../../shell/session.ts';

/** The content of the builder, complete or not. The working copy and every version have this shape. */
export type BuilderDocument = { readonly structure: FormNode; readonly settings: Settings };

/** Whether two documents are equal. */
const isSameDocument = (one: BuilderDocument, other: BuilderDocument): boolean =>
  isSameJson(one.structure, other.structure) && isSameJson(one.settings, other.settings);

/**
 * Merges my changes with theirs since `base`, for the form as a whole and for each setting. Returns undefined
 * if both sides changed one of these differently; the user must then decide.
 */
export function mergeDocuments(
  base: BuilderDocument,
  mine: BuilderDocument,
  theirs: BuilderDocument,
): BuilderDocument | undefined {
  const isTheirs = !isSameJson(base.structure, theirs.structure);
  const isMine = !isSameJson(base.structure, mine.structure);
  const { settings, conflicts } = mergeSettings(base.settings, mine.settings, theirs.settings);
  const isClash = isTheirs && isMine && !isSameJson(mine.structure, theirs.structure);
  if (isClash || conflicts.length > 0) return undefined;
  return { structure: isTheirs ? theirs.structure : mine.structure, settings };
}

/** The body of a save: the document, its ETag, and the live version it is based on. */
export type DraftSaveBody = BuilderDocument & { readonly etag: string; readonly base_version: number };

export type SaveOutcome =
  | { readonly kind: 'saved'; readonly etag: string; readonly savedAt: string | undefined }
  | { readonly kind: 'conflict' | 'offline' | 'refused'; readonly message: string };

/** The save state shown to the user (docs/rules.md B4). `pending` and `saving` both show "Saving…". */
export type SaveState =
  | { readonly kind: 'saved'; readonly savedAt: string | undefined }
  | { readonly kind: 'pending' | 'saving' }
  | {
      readonly kind: 'conflict' | 'offline' | 'refused';
      readonly message: string;
      /** Whether this browser had space to keep the unsaved changes. */
      readonly isStored: boolean;
    };

export type Autosave = {
  /** Replaces the document. It is saved a second later unless it changes again. */
  readonly change: (document: BuilderDocument) => void;
  /** Saves unsaved changes immediately. Returns true if everything is saved afterwards. */
  readonly saveNow: () => Promise<boolean>;
  /** After a conflict, bases the document on this ETag, live version and saved document. */
  readonly rebase: (on: { etag: string; baseVersion: number; saved?: BuilderDocument }) => void;
  /** Returns the document that the server has, or undefined if it is unknown. */
  readonly saved: () => BuilderDocument | undefined;
  readonly etag: () => string;
  readonly baseVersion: () => number;
  readonly stop: () => void;
};

/** The delay between the last change and its save, in milliseconds (docs/rules.md B4). */
export const saveDelay = 1_000;
const firstRetry = 2_000;
const longestRetry = 30_000;

/**
 * Saves the working copy to the server, one save at a time, each based on the previous one. `keep` stores
 * unsaved changes in this browser and returns whether there was space; `keep(undefined)` removes them. A
 * conflict stops saving until `rebase`. If the connection is lost, saving is retried with growing delays up
 * to 30 s.
 */
export function openAutosave(options: {
  etag: string;
  baseVersion: number;
  saved: BuilderDocument | undefined;
  savedAt: string | undefined;
  send(save: DraftSaveBody): Promise<SaveOutcome>;
  keep(save: DraftSaveBody | undefined): boolean;
  onState(state: SaveState): void;
}): Autosave {
  let { etag, baseVersion } = options;
  let { saved } = options;
  let waiting: BuilderDocument | undefined;
  let running: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retryDelay = firstRetry;
  let isBlocked = false;
  let isStored = true;
  let { savedAt } = options;

  const saveOf = (document: BuilderDocument): DraftSaveBody => ({
    ...document,
    etag,
    base_version: baseVersion,
  });
  const keep = (document: BuilderDocument): void => {
    isStored = options.keep(saveOf(document));
  };

  const schedule = (delay: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), delay);
  };

  const settle = (sent: BuilderDocument, outcome: SaveOutcome): void => {
    if (outcome.kind !== 'saved') {
      // A later change, if there is one, already includes the failed one.
      waiting ??= sent;
      isBlocked = outcome.kind === 'conflict';
      if (outcome.kind === 'offline') {
        schedule(retryDelay);
        retryDelay = Math.min(retryDelay * 2, longestRetry);
      }
      options.onState({ ...outcome, isStored });
      return;
    }
    etag = outcome.etag;
    saved = sent;
    savedAt = outcome.savedAt;
    retryDelay = firstRetry;
    if (waiting) {
      keep(waiting);
      return;
    }
    options.keep(undefined);
    options.onState({ kind: 'saved', savedAt });
  };

  const send = async (document: BuilderDocument): Promise<void> => {
    options.onState({ kind: 'saving' });
    const outcome = await options.send(saveOf(document));
    running = undefined;
    settle(document, outcome);
    if (waiting && outcome.kind === 'saved') schedule(0);
  };

  const run = async (): Promise<void> => {
    clearTimeout(timer);
    if (!running && waiting && !isBlocked) {
      const document = waiting;
      waiting = undefined;
      running = send(document);
    }
    await running;
  };

  return {
    change(document) {
      waiting = document;
      keep(document);
      if (isBlocked) return;
      options.onState({ kind: 'pending' });
      schedule(saveDelay);
    },
    async saveNow() {
      await running;
      await run();
      return waiting === undefined && !isBlocked;
    },
    rebase(on) {
      ({ etag, baseVersion } = on);
      if (on.saved) ({ saved } = on);
      isBlocked = false;
      if (waiting) keep(waiting);
      else options.onState({ kind: 'saved', savedAt });
    },
    saved: () => saved,
    etag: () => etag,
    baseVersion: () => baseVersion,
    stop: () => clearTimeout(timer),
  };
}

/** Edits that the server does not have yet, stored in this browser by user, form and window. */
export type UnsavedEdits = DraftSaveBody & { readonly kept_at: string };

/** The id of this window for the lifetime of the page. Other open windows must not remove its edits. */
const windowId = Math.random().toString(36).slice(2);
let hasWindowLock = false;

/** Lists the open windows of this browser. Empty on a page without HTTPS. */
export async function listOpenWindows(): Promise<ReadonlySet<string>> {
  if (!isSecureContext) return new Set();
  // The browser releases the lock when the window closes for any reason.
  if (!hasWindowLock) void navigator.locks.request(windowId, () => new Promise(() => undefined));
  hasWindowLock = true;
  const { held = [] } = await navigator.locks.query();
  return new Set(held.flatMap(({ name }) => name ?? []));
}

/**
 * Opens the storage for a user's unsaved edits of a form. Each window has a separate key, and adopts the
 * edits of closed windows.
 */
export function openUnsavedEdits(
  { userId, formId }: { readonly userId: string; readonly formId: string },
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = localStorage,
  window = windowId,
) {
  const anywhere = `formloom.unsaved.${userId}.${formId}`;
  const own = `${anywhere}.${window}`;
  const read = (place: string): Record<string, unknown> | undefined => {
    try {
      const stored: unknown = JSON.parse(storage.getItem(place) ?? '');
      return isRecord(stored) ? stored : undefined;
    } catch {
      // Only this page writes here. Invalid JSON means that the entry was cut off and cannot be restored.
      return undefined;
    }
  };
  const put = (work: UnsavedEdits): boolean => {
    try {
      storage.setItem(own, JSON.stringify(work));
      return true;
    } catch {
      return false;
    }
  };
  return {
    /** Stores the edits of this window, or removes them. Returns false if the browser has no space left. */
    keep(save: DraftSaveBody | undefined, now: Date): boolean {
      if (save) return put({ ...save, kept_at: now.toISOString() });
      storage.removeItem(own);
      return true;
    },
    /**
     * Returns the newest edits that an earlier visit could not save, and moves them to this window. Edits
     * that the server already has are removed. Undefined if nothing is readable.
     * @param open windows that still use their edits.
     */
    take(draft: BuilderDocument, open: ReadonlySet<string>): UnsavedEdits | undefined {
      const found = Object.keys(storage)
        .filter((place) => place === anywhere || place.startsWith(`${anywhere}.`))
        .filter((place) => place === own || !open.has(place.slice(anywhere.length + 1)))
        .flatMap((place) => {
          const stored = read(place);
          const work = stored && readUnsavedEdits(stored, draft.settings);
          return work ? [{ place, work }] : [];
        })
        .toSorted((one, other) => other.work.kept_at.localeCompare(one.work.kept_at));
      for (const { place, work } of found) {
        const isKnown = isSameDocument(work, draft);
        // Keeps the old entry if there is no space for both.
        if (isKnown || (place !== own && put(work))) storage.removeItem(place);
        if (!isKnown) return work;
      }
      return undefined;
    },
  };
}

/** @param settings the server's settings, for edits stored by a builder that did not keep any. */
function readUnsavedEdits(
  { etag, base_version, structure, settings, kept_at }: Readonly<Record<string, unknown>>,
  ofService: BuilderDocument['settings'],
): UnsavedEdits | undefined {
  if (typeof base_version !== 'number' || !isRecord(structure)) return undefined;
  return {
    // Edits that were stored before ETags existed match no ETag, so the user must decide.
    etag: typeof etag === 'string' ? etag : '"0"',
    base_version,
    structure: structure as BuilderDocument['structure'],
    settings: isRecord(settings) ? settings : ofService,
    kept_at: String(kept_at),
  };
}

type DraftReply = ReplyOf<'getDraft'>;
/**
 * A form as the builder opens it: the live version and the working copy, each with structure and settings.
 */
export type OpenedForm = Pick<DraftReply, 'form' | 'live'> & { draft: Omit<DraftReply, 'form' | 'live'> };
export type VersionDetail = ReplyOf<'getVersion'>;

/** The requests of the builder for one form. They all throw ApiProblem. */
export type BuilderApi = ReturnType<typeof openBuilderApi>;
export function openBuilderApi(workspaceId: string, formId: string) {
  const params = { id: formId };
  const read = async (): Promise<OpenedForm> => {
    const { form, live, ...draft } = await callOperation(workspaceId, 'getDraft', { params });
    return { form, live, draft };
  };
  return {
    formId,
    read,
    /** Publishes the working copy that was reviewed, if it is still based on this live version. */
    async publish({ etag, version }: { etag: string; version: number }): Promise<OpenedForm> {
      await callOperation(workspaceId, 'publishForm', { params, body: { version } }, { seen: { etag } });
      return read();
    },
    /** Returns the effects of publishing and the warnings, without storing anything. */
    tryOut: async (body: BuilderDocument, etag: string) => {
      const request = { params, query: { dry_run: true }, body };
      const { dry_run: found } = await callOperation(workspaceId, 'saveDraft', request, {
        seen: { etag },
      });
      return found!;
    },
    become: (verb: 'unpublish' | 'archive' | 'restore', seen: ChangePrecondition) =>
      callOperation(workspaceId, `${verb}Form`, { params }, { seen }),
    copyAsNewForm: (document: BuilderDocument) =>
      callOperation(workspaceId, 'duplicateForm', { params, body: document }),
    /**
     * The password applies immediately. It is not part of the working copy, because no one can read it again.
     */
    setPassword: (password: string, seen: ChangePrecondition) =>
      callOperation(workspaceId, 'changeForm', { params, body: { settings: { password } } }, { seen }),
    versions: (page: number) =>
      callOperation(workspaceId, 'listVersions', { params, query: { page, per_page: 20 } }),
    version: (version: number): Promise<VersionDetail> =>
      callOperation(workspaceId, 'getVersion', { params: { ...params, version } }),
    countAnswers: () => callOperation(workspaceId, 'countAnswers', { params }),

    /** Saves one time, and returns the outcome instead of throwing. */
    async save({ etag, ...body }: DraftSaveBody): Promise<SaveOutcome> {
      try {
        const saved = await callOperation(workspaceId, 'saveDraft', { params, body }, { seen: { etag } });
        return { kind: 'saved', etag: saved.etag, savedAt: saved.saved_at ?? undefined };
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error;
        // The session has ended. Refreshing it shows the sign-in page. After signing in, the user returns to
        // the edits stored here.
        if (error.status === 401) void refreshSession();
        return { kind: outcomeOf(error.status), message: error.message };
      }
    },
  };
}

/** Retries if the server is unreachable, starting or busy, but not if it refused. */
function outcomeOf(status: number): 'conflict' | 'offline' | 'refused' {
  if (status === 412) return 'conflict';
  return status === 0 || status === 429 || status >= 500 ? 'offline' : 'refused';
}
