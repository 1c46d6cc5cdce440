import './logic.css';
import { type ReactElement, useRef } from 'react';
import { endOfForm } from '#ast/basics/condition.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { ConditionEditor, SentenceText } from '../../conditions/condition-editor.tsx';
import {
  listComparisons,
  newCondition,
  parseConditionTree,
  toStoredCondition,
} from '../../conditions/condition-tree.ts';
import { PipedText } from '../../design/author-text.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { Message } from '../../design/message.tsx';
import { Select } from '../../design/select.tsx';
import { useFocusHandover } from '../../design/use-focus-handover.ts';
import type { EditorState } from '../editor/editor-state.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { describeNode } from '../model/compare.ts';
import { describeCondition, describeJump, describeLogic, stepName } from '../model/describe-logic.ts';
import { setAttribute } from '../model/edit.ts';
import { type EditNode, findNode, type NodeKey, textOf } from '../model/edit-node.ts';
import { listConditionNodes, suggestConditionNode } from '../model/referable-nodes.ts';
import { jumpsOf, type NodeReference, type StepJump } from '../model/references.ts';
import { ensureStepId } from '../model/step-ids.ts';

/**
 * Asks the user before an edit breaks references. Lists the affected nodes, then applies the edit and removes
 * the references, or cancels it (docs/rules.md B7).
 */
export function BrokenReferencesDialog(): ReactElement | null {
  const { editor } = useBuilder();
  const state = useEditorState(editor);
  const { pendingEdit } = state;
  if (!pendingEdit) return null;
  const nodes = dependantsIn(state, pendingEdit.broken);
  const { root } = state.history.present;
  return (
    <ConfirmDialog
      title={
        nodes.length === 1
          ? 'Another part of the form depends on this'
          : 'Other parts of the form depend on this'
      }
      onClose={() => editor.decide(false)}
      confirmLabel="Remove and continue"
      onConfirm={() => editor.decide(true)}
    >
      <div className="stack-tight">
        <p>
          These conditions and texts refer to something that would be removed or would come after them in the
          form:
        </p>
        <ul className="dependent-list">
          {nodes.map((node) => (
            <li key={node.key}>
              <strong>
                <PipedText text={describeNode(root, node)} />
              </strong>
              {describeLogic(root, node).map((sentence, index) => (
                <p key={index} className="soft small">
                  <SentenceText sentence={sentence} />
                </p>
              ))}
            </li>
          ))}
        </ul>
        <p>
          Continue to remove these references, or cancel to leave everything unchanged. You can undo this.
        </p>
      </div>
    </ConfirmDialog>
  );
}

function dependantsIn(state: EditorState, broken: readonly NodeReference[]): readonly EditNode[] {
  const { root } = state.history.present;
  const keys = new Set(broken.map(({ from }) => from));
  return [...keys].flatMap((key) => findNode(root, key) ?? []);
}

type ConditionFieldProps = {
  readonly name: string;
  readonly title: string;
  readonly value: unknown;
  readonly error: string | undefined;
  /** Undefined removes the condition. */
  readonly onChange: (condition: object | undefined) => void;
};

/** A condition of the selected node, as a sentence and as editable comparisons (docs/rules.md B7). */
export function ConditionField({ name, title, value, error, onChange }: ConditionFieldProps): ReactElement {
  const { editor } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const node = findNode(root, selection) ?? root;
  const isRule = name === 'valid_when';
  const nameable = listConditionNodes(root, node, isRule ? name : 'show_when');
  const suggested = isRule
    ? nameable.find(({ key }) => key === node.key)
    : suggestConditionNode(root, node, nameable);
  const rule = useRef<HTMLFieldSetElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const handOver = useFocusHandover();
  if (value === undefined) {
    const isIdle = name === 'require_when' && node.attrs['required'] === true;
    return (
      <div className="stack-tight">
        <Button
          ref={add}
          size="small"
          icon="add"
          isDisabled={isIdle}
          onPress={() => {
            handOver(() => rule.current?.querySelector<HTMLElement>('[data-part="0"] button'));
            onChange(newCondition(suggested));
          }}
        >
          {title} …
        </Button>
        {isIdle && <p className="field-description">This element is always required.</p>}
      </div>
    );
  }
  const group = parseConditionTree(value);
  return (
    <fieldset ref={rule} className="logic-rule">
      <legend className="unseen">{title}</legend>
      <div className="spread">
        <span className="field-label">{title}</span>
        <IconButton
          icon="remove"
          label={`Remove “${title}”`}
          size="small"
          onPress={() => {
            handOver(() => add.current);
            onChange(undefined);
          }}
        />
      </div>
      {group ? (
        <>
          <p className="logic-sentence">
            <SentenceText sentence={describeCondition(root, name, group)} />
          </p>
          <ConditionEditor
            group={group}
            nameable={nameable}
            suggested={suggested}
            onChange={(next) => {
              if (!next) handOver(() => add.current);
              onChange(next && toStoredCondition(next));
            }}
          />
        </>
      ) : (
        <Message tone="warn">This condition cannot be shown here. Edit it in the JSON view.</Message>
      )}
      {name === 'require_when' && node.attrs['required'] === true && (
        <p className="field-description">This element is always required, so this condition has no effect.</p>
      )}
      {error && <p className="field-error">{error}</p>}
    </fieldset>
  );
}

type JumpProps = {
  readonly jump: StepJump;
  readonly number: number;
  /** The questions that a condition can test, in reading order. */
  readonly nameable: readonly EditNode[];
  /** The question that a new condition tests first. */
  readonly about: EditNode | undefined;
  /** The steps that the jump can lead to. */
  readonly later: readonly EditNode[];
  /** Whether the jump can be reached: no jump before it is unconditional. */
  readonly isReached: boolean;
  /** Receives the key of a step, or `end`. */
  readonly onLead: (target: NodeKey) => void;
  /** Undefined removes the jump. */
  readonly onChange: (jump: StepJump | undefined) => void;
  readonly onMoveUp: (() => void) | undefined;
};

/** A jump: its target and its condition. */
function JumpEditor(props: JumpProps): ReactElement {
  const { jump, number, nameable, about, later, isReached, onLead, onChange, onMoveUp } = props;
  const { editor } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  const group = parseConditionTree(jump.when);
  const target = later.find((other) => textOf(other, 'id') === jump.to);
  const isKnown = target !== undefined || jump.to === endOfForm;
  const addCondition = (): void => onChange({ ...jump, when: newCondition(about) });
  return (
    <div className="logic-jump" role="group" aria-label={`Skip ${number}`}>
      <p className="logic-sentence">
        <SentenceText sentence={describeJump(root, jump)} />
      </p>
      {!isReached && <p className="field-description">Never reached: an earlier skip always applies.</p>}
      <div className="logic-head">
        <Select
          label="Skip to"
          isLabelHidden
          size="small"
          value={target?.key ?? jump.to}
          choices={[
            ...(isKnown ? [] : [{ id: jump.to, label: `${jump.to} (missing)` }]),
            ...later.map((other) => ({ id: other.key, label: stepName(root, other) })),
            { id: endOfForm, label: 'End of the form' },
          ]}
          onChange={onLead}
        />
        {onMoveUp && (
          <IconButton icon="chevron-up" label={`Move skip ${number} up`} size="small" onPress={onMoveUp} />
        )}
        <IconButton
          icon="remove"
          label={`Remove skip ${number}`}
          size="small"
          onPress={() => onChange(undefined)}
        />
      </div>
      {group ? (
        <ConditionEditor
          group={group}
          nameable={nameable}
          suggested={about}
          onChange={(next) => onChange(next ? { ...jump, when: toStoredCondition(next) } : { to: jump.to })}
        />
      ) : (
        <Button size="small" variant="quiet" icon="add" onPress={addCondition}>
          Add condition
        </Button>
      )}
    </div>
  );
}

type JumpsProps = {
  readonly title: string;
  readonly step: EditNode;
  /** Limits the field to jumps whose condition tests this question. */
  readonly about?: EditNode;
  readonly error?: string | undefined;
};

/**
 * The jumps of a step, each of which replaces the next step. The first jump whose condition is true applies.
 * Jumps only lead forward.
 */
export function JumpsField({ title, step, about, error }: JumpsProps): ReactElement {
  const { editor } = useBuilder();
  const { root } = useEditorState(editor).history.present;
  const jumps = jumpsOf(step);
  const later = root.children.slice(root.children.indexOf(step) + 1);
  const nameable = listConditionNodes(root, step, 'jumps');
  const suggested = about ?? nameable.at(-1);
  const put = (next: readonly StepJump[]): void =>
    editor.change(
      (tree) => ({ root: setAttribute(tree, step.key, 'jumps', next.length === 0 ? undefined : next) }),
      `jumps ${step.key}`,
    );

  /** Gives the target step an id, so that the jump can refer to it, in one step of history. */
  const lead = (index: number, target: NodeKey): void =>
    editor.change((tree) => {
      const named = target === endOfForm ? { root: tree, id: endOfForm } : ensureStepId(tree, target);
      return {
        root: setAttribute(
          named.root,
          step.key,
          'jumps',
          jumps.with(index, { ...jumps[index], to: named.id }),
        ),
      };
    });
  const add = (): void => put([...jumps, { when: newCondition(suggested), to: endOfForm }]);
  const always = jumps.findIndex(({ when }) => when === undefined);
  const isShown = ({ when }: StepJump): boolean => {
    if (!about) return true;
    const group = parseConditionTree(when);
    const comparisons = group ? listComparisons(group) : [];
    return comparisons.some(
      ({ subject }) => subject.of === 'element' && subject.name === textOf(about, 'id'),
    );
  };
  return (
    <fieldset className="logic-rule">
      <legend className={about ? 'unseen' : 'field-label'}>{title}</legend>
      {later.length === 0 && !about && (
        <p className="field-description">This is the last step. It always leads to the end.</p>
      )}
      {jumps.map(
        (jump, index) =>
          isShown(jump) && (
            <JumpEditor
              key={index}
              jump={jump}
              number={index + 1}
              nameable={nameable}
              about={suggested}
              later={later}
              isReached={always === -1 || index <= always}
              onLead={(target) => lead(index, target)}
              onChange={(next) => put(next ? jumps.with(index, next) : jumps.toSpliced(index, 1))}
              onMoveUp={
                index === 0 ? undefined : () => put(jumps.toSpliced(index, 1).toSpliced(index - 1, 0, jump))
              }
            />
          ),
      )}
      {error && <p className="field-error">{error}</p>}
      <Button
        size="small"
        icon="add"
        isDisabled={later.length === 0 || jumps.length >= formLimits.jumps}
        onPress={add}
      >
        {title} …
      </Button>
    </fieldset>
  );
}
