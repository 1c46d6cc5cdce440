import { toastProblem } from '../../design/toast.tsx';
import { paste } from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import { writeParts } from '../model/clipboard.ts';
import { sayNodes } from '../model/compare.ts';
import type { EditNode } from '../model/edit-node.ts';

/** Where parts are put as text, and taken from: the page's clipboard, or that of an event. */
export type PartsClipboard = {
  write(text: string): void | Promise<void>;
  read(): string | Promise<string>;
};

type OnClipboard = {
  readonly clipboard: PartsClipboard | undefined;
  readonly parts: readonly EditNode[];
  readonly editor: Editor;
};

/** Whether it is on the clipboard; who is refused is told. */
export async function copyParts({ clipboard, parts, editor }: OnClipboard): Promise<boolean> {
  try {
    await clipboard?.write(writeParts(parts));
    editor.say(`${sayNodes(parts)} copied`);
    return true;
  } catch {
    toastProblem(new Error('The browser did not let this be copied.'));
    return false;
  }
}

export async function pasteParts({ clipboard, editor }: Omit<OnClipboard, 'parts'>): Promise<void> {
  try {
    const note = paste(editor, (await clipboard?.read()) ?? '');
    if (note !== undefined) toastProblem(new Error(note));
  } catch {
    toastProblem(new Error('The browser did not give what is on the clipboard.'));
  }
}
