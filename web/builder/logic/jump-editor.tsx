import type { ReactElement } from 'react';
import { endOfForm } from '#ast/logic/condition.ts';
import { ConditionEditor } from '../../conditions/condition-editor.tsx';
import { readCondition, writeCondition } from '../../conditions/condition-tree.ts';
import { newCondition } from '../../conditions/new-leaf.ts';
import { SentenceText } from '../../conditions/sentence-text.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { Select } from '../../design/select.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { type EditNode, type NodeKey, textOf } from '../model/edit-node.ts';
import { listNameable } from '../model/logic/nameable.ts';
import type { Jump } from '../model/logic/references.ts';
import { sayJump, stepName } from '../model/logic/say-logic.ts';

type JumpProps = {
  readonly jump: Jump;
  readonly number: number;
  readonly step: EditNode;
  /** The steps that it may lead to. */
  readonly later: readonly EditNode[];
  /** Whether no jump before it is taken always. */
  readonly isReached: boolean;
  /** Gets the key of a step, or `end`. */
  readonly onLead: (target: NodeKey) => void;
  /** Undefined takes the jump away. */
  readonly onChange: (jump: Jump | undefined) => void;
  readonly onMoveUp: (() => void) | undefined;
};

/** One jump: where it leads, and when. */
export function JumpEditor(props: JumpProps): ReactElement {
  const { jump, number, step, later, isReached, onLead, onChange, onMoveUp } = props;
  const { editor } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  const group = readCondition(jump.when);
  const target = later.find((other) => textOf(other, 'id') === jump.to);
  const isKnown = target !== undefined || jump.to === endOfForm;
  const nameable = listNameable(root, step, true);
  const addCondition = (): void => onChange({ ...jump, when: newCondition(nameable.at(-1)) });
  return (
    <div className="logic-jump" role="group" aria-label={`Jump ${number}`}>
      <p className="logic-sentence">
        <SentenceText sentence={sayJump(root, jump)} />
      </p>
      {!isReached && <p className="field-description">Never reached: a jump before it is always taken.</p>}
      <div className="logic-head">
        <Select
          label="Goes to"
          isLabelHidden
          size="small"
          value={target?.key ?? jump.to}
          choices={[
            ...(isKnown ? [] : [{ id: jump.to, label: `${jump.to} (missing)` }]),
            ...later.map((other) => ({ id: other.key, label: stepName(root, other) })),
            { id: endOfForm, label: 'The end of the form' },
          ]}
          onChange={onLead}
        />
        {onMoveUp && (
          <IconButton icon="chevron-up" label={`Move jump ${number} up`} size="small" onPress={onMoveUp} />
        )}
        <IconButton
          icon="remove"
          label={`Remove jump ${number}`}
          size="small"
          onPress={() => onChange(undefined)}
        />
      </div>
      {group ? (
        <ConditionEditor
          group={group}
          nameable={nameable}
          onChange={(next) => onChange(next ? { ...jump, when: writeCondition(next) } : { to: jump.to })}
        />
      ) : (
        <Button size="small" variant="quiet" icon="add" onPress={addCondition}>
          Only when …
        </Button>
      )}
    </div>
  );
}
