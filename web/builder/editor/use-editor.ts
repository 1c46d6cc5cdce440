import { createContext, useContext, useSyncExternalStore } from 'react';
import type { Editor } from './editor.ts';
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
