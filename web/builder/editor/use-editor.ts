import { createContext, useContext, useSyncExternalStore } from 'react';
import { toastDone } from '../../design/toast.tsx';
import { type Editor, makeUndoable } from './editor.ts';
import type { EditorState } from './editor-state.ts';

/** The state of an editor; the component is drawn again when it changes. */
export function useEditorState(editor: Editor): EditorState {
  return useSyncExternalStore(editor.subscribe, editor.read);
}

/** What the parts of one open builder share and do not hand down. */
export type BuilderPlace = {
  readonly editor: Editor;
  /** Element ids that were published: answers are stored under them (docs/rules.md B5). */
  readonly lockedIds: ReadonlySet<string>;
  /** What answers may keep of the options that were published, by the element's id and the attribute's name. */
  readonly publishedOptions: ReadonlyMap<string, ReadonlySet<string>>;
  readonly isReadOnly: boolean;
};

export const BuilderContext = createContext<BuilderPlace | undefined>(undefined);

export function useBuilder(): BuilderPlace {
  const place = useContext(BuilderContext);
  if (!place) throw new Error('This is used outside of a builder.');
  return place;
}

/** Makes an edit, and says so once it is made, with an undo of it alone. */
export function toastUndoable(editor: Editor, edit: () => void, text: string, onMade?: () => void): void {
  makeUndoable(editor, edit, (undo) => {
    onMade?.();
    const run = async (): Promise<void> => {
      if (!editor.isFollowed())
        throw new Error('The form is not open here any more, so this cannot be undone.');
      if (!undo?.()) throw new Error('The form has changed since: undo the later changes first.');
    };
    toastDone(text, undo && { label: 'Undo', run });
  });
}
