import './insert-answer.css';
import type { ReactElement, ReactNode } from 'react';
import { Button } from '../../design/button.tsx';
import { Menu } from '../../design/menu.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { findNode, textOf } from '../model/edit-node.ts';
import { listShowable } from '../model/logic/nameable.ts';

type InsertProps = {
  /** Whether the text is of the selected part, and not of the whole form's settings. */
  readonly isOfPart: boolean;
  /** Takes the placeholder: `{{name}}`. */
  readonly onInsert: (placeholder: string) => void;
  /** The field of the text. */
  readonly children: ReactNode;
};

/** A text's field, which offers beside its label the answers that the text may show, where there are any. */
export function InsertAnswer({ isOfPart, onInsert, children }: InsertProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const part = isOfPart ? findNode(root, selection) : undefined;
  const questions = isOfPart && !part ? [] : listShowable(root, part);
  // The same around the field whether there are any: one that were put into another place would lose its focus in mid-word.
  return (
    <div className="insertable">
      {children}
      {questions.length > 0 && !isReadOnly && (
        <Menu
          items={questions.map((question) => ({
            id: textOf(question, 'id'),
            label: textOf(question, 'label'),
            description: `{{${textOf(question, 'id')}}}`,
            onAction: () => onInsert(`{{${textOf(question, 'id')}}}`),
          }))}
        >
          <Button size="small" variant="quiet" icon="add" aria-label="Insert an answer">
            Answer
          </Button>
        </Menu>
      )}
    </div>
  );
}
