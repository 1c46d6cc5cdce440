import { toastProblem } from '../../design/toast.tsx';
import { paste } from '../editor/commands.ts';
import type { Editor } from '../editor/editor.ts';
import { formatClipboardNodes } from '../model/clipboard.ts';
import { describeNodes } from '../model/compare.ts';
import type { EditNode } from '../model/edit-node.ts';

/** A clipboard for writing and reading nodes: the page's clipboard, or that of an event. */
export type NodeClipboard = { write(text: string): void | Promise<void>; read(): string | Promise<string> };

type OnClipboard = {
  readonly clipboard: NodeClipboard | undefined;
  readonly parts: readonly EditNode[];
  readonly editor: Editor;
};

/** Copies nodes to the clipboard. Returns whether it worked, and shows an error if the browser refused to. */
export async function copyNodes({ clipboard, parts, editor }: OnClipboard): Promise<boolean> {
  try {
    await clipboard?.write(formatClipboardNodes(parts));
    editor.announce(`${describeNodes(editor.read().history.present.root, parts)} copied`);
    return true;
  } catch {
    toastProblem(new Error('Your browser blocked copying. Use the keyboard shortcut instead.'));
    return false;
  }
}

export async function pasteNodes({ clipboard, editor }: Omit<OnClipboard, 'parts'>): Promise<void> {
  try {
    const note = paste(editor, (await clipboard?.read()) ?? '');
    if (note !== undefined) toastProblem(new Error(note));
  } catch {
    toastProblem(new Error('Your browser blocked pasting. Use the keyboard shortcut instead.'));
  }
}
