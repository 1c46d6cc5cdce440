import type { ReactElement, RefObject } from 'react';
import { Button } from '../design/button.tsx';
import { addStep } from './editor/commands.ts';
import { useBuilder, useEditorState } from './editor/use-editor.ts';
import { textOf, trailTo } from './model/edit-node.ts';
import { DragHandle } from './canvas/drag/drag-handle.tsx';
import { NodeMenu } from './canvas/node-menu.tsx';
import type { StartDrag } from './canvas/drag/use-drag.ts';

type StepsProps = { readonly list: RefObject<HTMLOListElement | null>; readonly onDrag: StartDrag };

/** The steps at a glance: go to one, drag it, move it, merge it, add one. */
export function StepsList({ list, onDrag }: StepsProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const current = trailTo(root, selection)[1];
  return (
    <section className="steps-list" aria-labelledby="steps-heading">
      <h2 className="pane-heading" id="steps-heading">
        Steps
      </h2>
      <ol role="list" ref={list}>
        {root.children.map((step, index) => (
          <li key={step.key} data-key={step.key} className="steps-item">
            {!isReadOnly && root.children.length > 1 && (
              <DragHandle node={step} onDrag={onDrag} of={`step ${index + 1}`} />
            )}
            <button
              type="button"
              className="steps-link"
              aria-current={step === current ? 'step' : undefined}
              onClick={() => editor.select(step.key, 'node')}
            >
              <span className="steps-number">{index + 1}</span>
              <span className="steps-title">{textOf(step, 'title') || 'Untitled step'}</span>
            </button>
            {!isReadOnly && <NodeMenu parts={[step]} />}
          </li>
        ))}
      </ol>
      {!isReadOnly && (
        <Button size="small" variant="quiet" icon="add" onPress={() => addStep(editor)}>
          Add a step
        </Button>
      )}
    </section>
  );
}
