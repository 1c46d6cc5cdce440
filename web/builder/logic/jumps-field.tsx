import './logic.css';
import type { ReactElement } from 'react';
import { endOfForm } from '#ast/logic/condition.ts';
import { limits } from '#ast/limits.ts';
import { newCondition } from '../../conditions/new-leaf.ts';
import { Button } from '../../design/button.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { setAttribute } from '../model/edit.ts';
import { findNode, type NodeKey } from '../model/edit-node.ts';
import { listNameable } from '../model/logic/nameable.ts';
import { type Jump, jumpsOf } from '../model/logic/references.ts';
import { withStepId } from '../model/logic/step-ids.ts';
import { JumpEditor } from './jump-editor.tsx';

type JumpsProps = {
  readonly title: string;
  readonly value: unknown;
  readonly error: string | undefined;
  /** Undefined takes all of them away. */
  readonly onChange: (jumps: readonly Jump[] | undefined) => void;
};

/** Where a step leads instead of to the next one: the first that holds wins, and they lead forward only. */
export function JumpsField({ title, error, onChange }: JumpsProps): ReactElement {
  const { editor } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const step = findNode(root, selection) ?? root;
  const jumps = jumpsOf(step);
  const later = root.children.slice(root.children.indexOf(step) + 1);
  const put = (next: readonly Jump[]): void => onChange(next.length === 0 ? undefined : next);

  /** A step that is jumped to gets an id by which the jump names it, in the same step of history. */
  const lead = (index: number, target: NodeKey): void =>
    editor.change((tree) => {
      const named = target === endOfForm ? { root: tree, id: endOfForm } : withStepId(tree, target);
      const jump = { ...jumps[index], to: named.id };
      const next = index < jumps.length ? jumps.with(index, jump) : [...jumps, jump];
      return { root: setAttribute(named.root, step.key, 'jumps', next) };
    });
  const add = (): void => {
    const asked = listNameable(root, step, true).at(-1);
    put([...jumps, { when: newCondition(asked), to: endOfForm }]);
  };
  const always = jumps.findIndex(({ when }) => when === undefined);
  return (
    <fieldset className="logic-rule">
      <legend className="field-label">{title}</legend>
      {later.length === 0 && (
        <p className="field-description">This is the last step: it leads to the end anyway.</p>
      )}
      {jumps.map((jump, index) => (
        <JumpEditor
          key={index}
          jump={jump}
          number={index + 1}
          step={step}
          later={later}
          isReached={always === -1 || index <= always}
          onLead={(target) => lead(index, target)}
          onChange={(next) => put(next ? jumps.with(index, next) : jumps.toSpliced(index, 1))}
          onMoveUp={
            index === 0 ? undefined : () => put(jumps.toSpliced(index, 1).toSpliced(index - 1, 0, jump))
          }
        />
      ))}
      {error && <p className="field-error">{error}</p>}
      <Button
        size="small"
        icon="add"
        isDisabled={later.length === 0 || jumps.length >= limits.jumps}
        onPress={add}
      >
        Jump …
      </Button>
    </fieldset>
  );
}
