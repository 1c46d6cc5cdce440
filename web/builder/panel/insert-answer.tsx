import type { ReactElement } from 'react';
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
};

/** Offers the answers that a text may show, as the questions that they answer. Nothing where there is none. */
export function InsertAnswer({ isOfPart, onInsert }: InsertProps): ReactElement | null {
  const { editor, isReadOnly } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const part = isOfPart ? findNode(root, selection) : undefined;
  const questions = isOfPart && !part ? [] : listShowable(root, part);
  if (questions.length === 0 || isReadOnly) return null;
  return (
    <Menu
      items={questions.map((question) => ({
        id: textOf(question, 'id'),
        label: textOf(question, 'label'),
        description: `{{${textOf(question, 'id')}}}`,
        onAction: () => onInsert(`{{${textOf(question, 'id')}}}`),
      }))}
    >
      <Button size="small" icon="add">
        Insert an answer
      </Button>
    </Menu>
  );
}
