import { createContext, useContext, useSyncExternalStore } from 'react';
import { toastDone } from '../../design/toast.tsx';
import { type Editor, performUndoableEdit } from './editor.ts';
import type { EditorState } from './editor-state.ts';

/** Returns the state of an editor, and re-renders the component when it changes. */
export function useEditorState(editor: Editor): EditorState {
  return useSyncExternalStore(editor.subscribe, editor.read);
}

/** What the components of an open builder share through context. */
export type BuilderContextValue = {
  readonly editor: Editor;
  /** Ids of published elements. Stored answers use these ids (docs/rules.md B5). */
  readonly lockedIds: ReadonlySet<string>;
  /** Published option ids that answers may contain, by element id and attribute name. */
  readonly publishedOptions: ReadonlyMap<string, ReadonlySet<string>>;
  readonly isReadOnly: boolean;
};

export const BuilderContext = createContext<BuilderContextValue | undefined>(undefined);

export function useBuilder(): BuilderContextValue {
  const place = useContext(BuilderContext);
  if (!place) throw new Error('This hook must be used inside a builder.');
  return place;
}

/** Makes an edit, and then shows a toast that can undo only this edit. */
export function editWithUndoToast(editor: Editor, edit: () => void, text: string, onMade?: () => void): void {
  performUndoableEdit(editor, edit, (undo) => {
    onMade?.();
    const run = async (): Promise<void> => {
      if (!editor.isFollowed())
        throw new Error('This form is no longer open here, so the change cannot be undone.');
      if (!undo?.()) throw new Error('The form has changed since. Undo the later changes first.');
    };
    toastDone(text, undo && { label: 'Undo', run });
  });
}
