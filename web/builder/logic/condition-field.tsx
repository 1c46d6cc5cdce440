import './logic.css';
import { type ReactElement, useRef } from 'react';
import { ConditionEditor } from '../../conditions/condition-editor.tsx';
import { readCondition, writeCondition } from '../../conditions/condition-tree.ts';
import { newCondition } from '../../conditions/new-leaf.ts';
import { SentenceText } from '../../conditions/sentence-text.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { Message } from '../../design/message.tsx';
import { useHandOver } from '../../design/use-hand-over.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { findNode } from '../model/edit-node.ts';
import { listNameable } from '../model/logic/nameable.ts';
import { sayWhenIn } from '../model/logic/say-logic.ts';

type ConditionFieldProps = {
  readonly name: string;
  readonly title: string;
  readonly value: unknown;
  readonly error: string | undefined;
  /** Undefined takes the condition away. */
  readonly onChange: (condition: object | undefined) => void;
};

/** One condition of the selected part: as a sentence, and as comparisons to change (docs/rules.md B7). */
export function ConditionField({ name, title, value, error, onChange }: ConditionFieldProps): ReactElement {
  const { editor } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const node = findNode(root, selection) ?? root;
  const nameable = listNameable(root, node, false);
  const rule = useRef<HTMLFieldSetElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const handOver = useHandOver();
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
            onChange(newCondition(nameable.at(-1)));
          }}
        >
          {title} …
        </Button>
        {isIdle && <p className="field-description">It is required in any case.</p>}
      </div>
    );
  }
  const group = readCondition(value);
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
            <SentenceText sentence={sayWhenIn(root, group)} />
          </p>
          <ConditionEditor
            group={group}
            nameable={nameable}
            onChange={(next) => {
              if (!next) handOver(() => add.current);
              onChange(next && writeCondition(next));
            }}
          />
        </>
      ) : (
        <Message tone="warn">This condition is not written as one. The JSON view shows it.</Message>
      )}
      {name === 'require_when' && node.attrs['required'] === true && (
        <p className="field-description">It is required in any case: this changes nothing.</p>
      )}
      {error && <p className="field-error">{error}</p>}
    </fieldset>
  );
}
