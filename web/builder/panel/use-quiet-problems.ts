import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { Editor } from '../editor/editor.ts';
import { useEditorState } from '../editor/use-editor.ts';
import { findNode, type NodeKey } from '../model/edit-node.ts';

export type ProblemsByKey = ReadonlyMap<NodeKey, readonly string[]>;

/** Whether a problem is about an attribute of its node. A message about one attribute can mention others. */
export const isProblemOf = (message: string, name: string): boolean =>
  (/^"(\w+)" of/.exec(message)?.[1] ?? name) === name &&
  (message.includes(`"${name}"`) || (name === 'id' && message.startsWith('Element ids')));

/**
 * Returns the problems to show. A problem that appears while someone edits a field is shown once they leave
 * the field (`onLeave`) or the node, or open the node from a list of problems.
 */
export function useQuietProblems(
  editor: Editor,
  problems: ProblemsByKey,
): { readonly shown: ProblemsByKey; readonly onLeave: (name: string) => void } {
  const { history, focus } = useEditorState(editor);
  const { root, selection } = history.present;
  const visited = useRef(new Set<NodeKey>());
  const messages = problems.get(selection) ?? [];
  const [known, setKnown] = useState<{ key: NodeKey; messages: readonly string[] }>();
  if (known?.key !== selection) {
    // A new element is incomplete, but nobody has had a chance to complete it.
    const isNew = findNode(root, selection)?.followsLabel === true && !visited.current.has(selection);
    visited.current.add(selection);
    setKnown({ key: selection, messages: isNew ? [] : messages });
  }
  const show = useEffectEvent(() => setKnown({ key: selection, messages }));
  useEffect(() => {
    if (focus?.part === 'panel') show();
  }, [focus]);
  const loud = known?.key === selection ? messages.filter((each) => known.messages.includes(each)) : [];
  return {
    shown: loud.length === messages.length ? problems : new Map([...problems, [selection, loud]]),
    // The focus leaves a field after another node was selected, too.
    onLeave: (name) =>
      setKnown((now) => {
        if (now?.key !== selection) return now;
        return { ...now, messages: [...loud, ...messages.filter((each) => isProblemOf(each, name))] };
      }),
  };
}
