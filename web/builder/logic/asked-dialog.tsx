import type { ReactElement } from 'react';
import { SentenceText } from '../../conditions/sentence-text.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import type { EditorState } from '../editor/editor-state.ts';
import { sayNode } from '../model/compare.ts';
import { type EditNode, findNode } from '../model/edit-node.ts';
import type { Reference } from '../model/logic/references.ts';
import { sayLogic } from '../model/logic/say-logic.ts';

/**
 * Asks before an edit takes away what conditions elsewhere name: lists them, and either carries the edit out without
 * them or not at all (docs/rules.md B7).
 */
export function AskedDialog(): ReactElement | null {
  const { editor } = useBuilder();
  const state = useEditorState(editor);
  const { asked } = state;
  if (!asked) return null;
  const nodes = dependantsIn(state, asked.broken);
  const { root } = state.history.present;
  return (
    <ConfirmDialog
      title={nodes.length === 1 ? 'One part of the form depends on this' : 'Parts of the form depend on this'}
      isOpen
      onClose={() => editor.decide(false)}
      confirmLabel="Go on without them"
      onConfirm={() => editor.decide(true)}
    >
      <div className="stack-tight">
        <p>These conditions and texts name what would no longer be there, or would come only later:</p>
        <ul className="asked-list">
          {nodes.map((node) => (
            <li key={node.key}>
              <strong>{sayNode(node)}</strong>
              {sayLogic(root, node).map((sentence, index) => (
                <p key={index} className="soft small">
                  <SentenceText sentence={sentence} />
                </p>
              ))}
            </li>
          ))}
        </ul>
        <p>Go on without them, or leave everything as it is. Undo brings all of it back.</p>
      </div>
    </ConfirmDialog>
  );
}

function dependantsIn(state: EditorState, broken: readonly Reference[]): readonly EditNode[] {
  const { root } = state.history.present;
  const keys = new Set(broken.map(({ from }) => from));
  return [...keys].flatMap((key) => findNode(root, key) ?? []);
}
