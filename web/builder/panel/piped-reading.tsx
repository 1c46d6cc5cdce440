import type { ReactElement } from 'react';
import { pipedIds } from '#ast/form/piping.ts';
import { fillLabels } from '../../conditions/condition-tree.ts';
import { PipedText } from '../../design/author-text.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { finderIn } from '../model/form-index.ts';

/** Shows, below a field, how its text reads: with the labels of the questions whose answers it shows. */
export function PipedReading({ text }: { text: string }): ReactElement | null {
  const { editor } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  if (pipedIds(text).length === 0) return null;
  return (
    <p className="piped-reading soft small">
      Reads: <PipedText text={fillLabels(text, finderIn(root))} />
    </p>
  );
}
