import { toastDone } from '../../design/toast.tsx';
import type { Editor } from './editor.ts';
import { makeUndoable } from './make-undoable.ts';

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
