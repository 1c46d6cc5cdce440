import type { FormDocument } from './form-document.ts';

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
