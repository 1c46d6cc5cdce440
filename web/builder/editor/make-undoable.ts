import type { Editor } from './editor.ts';

/**
 * Makes an edit and tells when it is made: at once, or once what it asks has been answered with yes.
 * @param onMade `undo` takes back this step and no other one: it gives false where others came after it. Undefined where
 * nothing changed.
 */
export function makeUndoable(
  editor: Editor,
  edit: () => void,
  onMade: (undo: (() => boolean) | undefined) => void,
): void {
  const steps = () => editor.read().history.past;
  const before = steps();
  edit();
  const tell = (): void => {
    const after = steps();
    const undo = (): boolean => {
      const isLast = steps() === after;
      if (isLast) editor.undo();
      return isLast;
    };
    onMade(after === before ? undefined : undo);
  };
  if (!editor.read().asked) return tell();
  const stop = editor.subscribe(() => {
    if (editor.read().asked) return;
    stop();
    if (steps() !== before) tell();
  });
}
