import type { ReplyOf } from '#app/operations/operations.ts';
import { isRecord, isSameJson } from '#ast/basics/json.ts';
import type { FormNode } from '#ast/form/tree.ts';
import { mergeSettings, type Settings } from '#ast/settings.ts';
import { ApiProblem } from '../../api/client.ts';
import { call, type Seen } from '../../api/operations.ts';
import { refreshSession } from '../../shell/session.ts';

/** All that is edited in the builder, complete or not: the working copy is one of these, and so is every version. */
export type FormDocument = { readonly structure: FormNode; readonly settings: Settings };

/** Whether two say the same. */
const isSameDocument = (one: FormDocument, other: FormDocument): boolean =>
  isSameJson(one.structure, other.structure) && isSameJson(one.settings, other.settings);

/**
 * Mine with what they changed since `base`: the form as a whole and each setting. Undefined where both changed one of
 * these and not to the same: then a person decides.
 */
export function mergeDocuments(
  base: FormDocument,
  mine: FormDocument,
  theirs: FormDocument,
): FormDocument | undefined {
  const isTheirs = !isSameJson(base.structure, theirs.structure);
  const isMine = !isSameJson(base.structure, mine.structure);
  const { settings, conflicts } = mergeSettings(base.settings, mine.settings, theirs.settings);
  const isClash = isTheirs && isMine && !isSameJson(mine.structure, theirs.structure);
  if (isClash || conflicts.length > 0) return undefined;
  return { structure: isTheirs ? theirs.structure : mine.structure, settings };
}

/** What a save sends: all that is edited, the ETag that it was made on and the live version that it rests on. */
export type Save = FormDocument & { readonly etag: string; readonly base_version: number };

export type SaveOutcome =
  | { readonly kind: 'saved'; readonly etag: string; readonly savedAt: string | undefined }
  | { readonly kind: 'conflict' | 'offline' | 'refused'; readonly message: string };

/** What the person sees (docs/rules.md B4). `pending` and `saving` both read "Saving…". */
export type SaveState =
  | { readonly kind: 'saved'; readonly savedAt: string | undefined }
  | { readonly kind: 'pending' | 'saving' }
  | {
      readonly kind: 'conflict' | 'offline' | 'refused';
      readonly message: string;
      /** Whether this browser had room to keep what is not saved. */
      readonly isKept: boolean;
    };

export type Autosave = {
  /** The form is this now; it is saved a second later, unless it changes again. */
  readonly change: (document: FormDocument) => void;
  /** Saves at once what is not saved; true when everything is saved afterwards. */
  readonly saveNow: () => Promise<boolean>;
  /** After a conflict: what is here rests on this state and live version from now on, and on what was saved there. */
  readonly rebase: (on: { etag: string; baseVersion: number; saved?: FormDocument }) => void;
  /** What the service holds, as far as this page knows; undefined when it does not. */
  readonly saved: () => FormDocument | undefined;
  readonly etag: () => string;
  readonly baseVersion: () => number;
  readonly stop: () => void;
};

/** How long after the last change it is saved, in milliseconds (docs/rules.md B4). */
export const saveDelay = 1_000;
const firstRetry = 2_000;
const longestRetry = 30_000;

/**
 * Keeps the working copy on the server in step with what is edited: one save at a time, each on what the last
 * one left. What is not saved yet is kept in this browser by `keep`, which says whether there was room;
 * `keep(undefined)` lets go of it.
 * A conflict stops it until `rebase`; a connection that is away is tried again, ever more slowly up to every 30 s.
 */
export function openAutosave(options: {
  etag: string;
  baseVersion: number;
  saved: FormDocument | undefined;
  savedAt: string | undefined;
  send(save: Save): Promise<SaveOutcome>;
  keep(save: Save | undefined): boolean;
  onState(state: SaveState): void;
}): Autosave {
  let { etag, baseVersion } = options;
  let { saved } = options;
  let waiting: FormDocument | undefined;
  let running: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retryDelay = firstRetry;
  let isBlocked = false;
  let isKept = true;
  let { savedAt } = options;

  const saveOf = (document: FormDocument): Save => ({ ...document, etag, base_version: baseVersion });
  const keep = (document: FormDocument): void => {
    isKept = options.keep(saveOf(document));
  };

  const schedule = (delay: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), delay);
  };

  const settle = (sent: FormDocument, outcome: SaveOutcome): void => {
    if (outcome.kind !== 'saved') {
      // A later change, if there is one, contains what was sent.
      waiting ??= sent;
      isBlocked = outcome.kind === 'conflict';
      if (outcome.kind === 'offline') {
        schedule(retryDelay);
        retryDelay = Math.min(retryDelay * 2, longestRetry);
      }
      options.onState({ ...outcome, isKept });
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

  const send = async (document: FormDocument): Promise<void> => {
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

type DraftReply = ReplyOf<'getDraft'>;
/** A form as the builder opens it: its live version and its working copy, each a document of structure and settings. */
export type BuilderForm = Pick<DraftReply, 'form' | 'live'> & { draft: Omit<DraftReply, 'form' | 'live'> };
export type VersionDetail = ReplyOf<'getVersion'>;

/** What the builder asks of the service about one form; all of it throws ApiProblem. */
export type BuilderApi = ReturnType<typeof openBuilderApi>;
export function openBuilderApi(workspaceId: string, formId: string) {
  const params = { id: formId };
  const read = async (): Promise<BuilderForm> => {
    const { form, live, ...draft } = await call(workspaceId, 'getDraft', { params });
    return { form, live, draft };
  };
  return {
    formId,
    read,
    /** Publishes what was seen: this working copy, compared with this live version. */
    async publish({ etag, version }: { etag: string; version: number }): Promise<BuilderForm> {
      await call(workspaceId, 'publishForm', { params, body: { version } }, { seen: { etag } });
      return read();
    },
    /** What publishing this would touch, and what is not good in it; stores nothing. */
    tryOut: async (body: FormDocument, etag: string) => {
      const asked = { params, query: { dry_run: true }, body };
      const { dry_run: found } = await call(workspaceId, 'saveDraft', asked, { seen: { etag } });
      return found!;
    },
    become: (verb: 'unpublish' | 'archive' | 'restore', seen: Seen) =>
      call(workspaceId, `${verb}Form`, { params }, { seen }),
    copyAsNewForm: (document: FormDocument) => call(workspaceId, 'duplicateForm', { params, body: document }),
    /** The password holds at once: it is part of no working copy, since nobody may read it again. */
    setPassword: (password: string, seen: Seen) =>
      call(workspaceId, 'changeForm', { params, body: { settings: { password } } }, { seen }),
    versions: (page: number) => call(workspaceId, 'listVersions', { params, query: { page, per_page: 20 } }),
    version: (version: number): Promise<VersionDetail> =>
      call(workspaceId, 'getVersion', { params: { ...params, version } }),
    countAnswers: () => call(workspaceId, 'countAnswers', { params }),

    /** One save, with what became of it instead of an exception. */
    async save({ etag, ...body }: Save): Promise<SaveOutcome> {
      try {
        const saved = await call(workspaceId, 'saveDraft', { params, body }, { seen: { etag } });
        return { kind: 'saved', etag: saved.etag, savedAt: saved.saved_at ?? undefined };
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error;
        // The session has ended: whoever asks for it hears so, and is led to the sign-in and back to what is kept here.
        if (error.status === 401) void refreshSession();
        return { kind: outcomeOf(error.status), message: error.message };
      }
    },
  };
}

/** A service that is away, starting or busy is tried again; what it refused is not. */
function outcomeOf(status: number): 'conflict' | 'offline' | 'refused' {
  if (status === 412) return 'conflict';
  return status === 0 || status === 429 || status >= 500 ? 'offline' : 'refused';
}
