import { createContext, useContext } from 'react';
import { useBuilder } from '../editor/use-editor.ts';
import type { EditNode } from '../model/edit-node.ts';
import { selectedIn } from '../model/selection.ts';
import type { PartsClipboard } from './clip-parts.ts';
import type { OnParts } from './deeds.ts';

/** What deeds reach beyond the editor, in the view that shows the parts. */
export const ReachContext = createContext<Pick<OnParts, 'openMenu' | 'remove'> | undefined>(undefined);

/** Browsers give pages without https none, but in an event of its own. */
const pageClipboard: PartsClipboard | undefined = isSecureContext
  ? {
      write: (text) => navigator.clipboard.writeText(text),
      read: () => navigator.clipboard.readText(),
    }
  : undefined;

type Meant = { readonly parts?: readonly EditNode[]; readonly clipboard?: PartsClipboard };

/** Gives what a deed is done to: these parts, else what is selected at that moment. */
export function useOnParts(): (meant?: Meant) => OnParts {
  const { editor } = useBuilder();
  const reach = useContext(ReachContext);
  if (!reach) throw new Error('This is used outside of the view that shows the form.');
  return ({ parts, clipboard = pageClipboard } = {}) => {
    const { present } = editor.read().history;
    const selected = parts ?? selectedIn(present).filter((node) => node !== present.root);
    return { ...reach, editor, clipboard, parts: selected };
  };
}
