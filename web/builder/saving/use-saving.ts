import { useEffect, useRef, useState } from 'react';
import type { Editor } from '../editor/editor.ts';
import { toStructure } from '../model/edit-node.ts';
import type { EditSnapshot } from '../model/history.ts';
import {
  type Autosave,
  type BuilderApi,
  type BuilderDocument,
  type OpenedForm,
  openAutosave,
  openUnsavedEdits,
  type SaveState,
} from './autosave.ts';

const lastSaves = new Map<string, Promise<unknown>>();

/** Remembers the save that was sent when a screen closed, until the server replies. */
function rememberLastSave(formId: string, save: Promise<unknown>): void {
  const done = save.finally(() => {
    if (lastSaves.get(formId) === done) lastSaves.delete(formId);
  });
  lastSaves.set(formId, done);
}

/** Waits for that save, so that a quick return does not open the old version. */
export async function waitForLastSave(formId: string): Promise<void> {
  await lastSaves.get(formId);
}

/** The autosave of an open form, and its state. */
export type AutosaveAndState = { readonly autosave: Autosave; readonly state: SaveState };

type Options = {
  readonly editor: Editor;
  readonly opened: OpenedForm;
  readonly api: BuilderApi;
  readonly userId: string;
  /** The document that the server has; differences from it are saved. Undefined if it cannot be read. */
  readonly saved: Pick<EditSnapshot, 'root' | 'settings'> | undefined;
  /** Whether the document was recovered from this browser and the version it is based on is unknown. */
  readonly isRescue: boolean;
};

/** Converts a snapshot to the document to save. */
export const documentOf = ({ root, settings }: Pick<EditSnapshot, 'root' | 'settings'>): BuilderDocument => ({
  structure: toStructure(root),
  settings,
});

/** Saves changes of the editor, and asks before the window closes with unsaved changes. */
export function useSaving({ editor, opened, api, userId, saved, isRescue }: Options): AutosaveAndState {
  const [state, setState] = useState<SaveState>({
    kind: 'saved',
    savedAt: opened.draft.saved_at ?? undefined,
  });
  const [autosave] = useState(() => {
    const unsavedEdits = openUnsavedEdits({ userId, formId: opened.form.id });
    return openAutosave({
      etag: opened.draft.etag,
      baseVersion: opened.draft.base_version,
      saved: saved && !isRescue ? documentOf(saved) : undefined,
      savedAt: opened.draft.saved_at ?? undefined,
      send: (save) => api.save(save),
      keep: (save) => unsavedEdits.keep(save, new Date()),
      onState: setState,
    });
  });
  const last = useRef(saved);
  useEffect(() => {
    const follow = (): void => {
      const { history, lifted } = editor.read();
      const { present } = history;
      const { root, settings } = last.current ?? {};
      // A lifted node is not part of the form yet.
      if (lifted || (present.root === root && present.settings === settings)) return;
      last.current = present;
      autosave.change(documentOf(present));
    };
    follow();
    return editor.subscribe(follow);
  }, [editor, autosave]);
  useEffect(() => {
    const retry = (): void => void autosave.saveNow();
    const leave = async (): Promise<void> => {
      await autosave.saveNow();
      autosave.stop();
    };
    addEventListener('online', retry);
    return () => {
      removeEventListener('online', retry);
      // Saves immediately when the screen closes, while the page can still send requests.
      rememberLastSave(api.formId, leave());
    };
  }, [autosave, api]);
  useLeaveWarning(state.kind !== 'saved');
  return { autosave, state };
}

/** Makes the browser ask before the window closes. */
export function useLeaveWarning(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isNeeded]);
}
