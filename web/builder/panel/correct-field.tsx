import { type ReactElement, useState } from 'react';
import type { AttributeSpec } from '#ast/attributes/attributes.ts';
import { elementDefinitions } from '#ast/form/elements.ts';
import { type InputType, inputRules } from '#ast/form/input-rules.ts';
import { isListKind } from '#ast/types/rules.ts';
import { validOptionsOf } from '../../conditions/condition-tree.ts';
import { CheckboxGroup } from '../../design/checkbox.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { NumberInput } from '../../design/number-input.tsx';
import { Select } from '../../design/select.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { pathToNode } from '../model/edit-node.ts';

type PlainAnswer = string | number | boolean;
const isPlain = (value: unknown): value is PlainAnswer =>
  ['string', 'number', 'boolean'].includes(typeof value);

type CorrectProps = {
  readonly spec: AttributeSpec<'correct'>;
  readonly value: unknown;
  readonly error: string | undefined;
  /** Undefined removes the right answer. */
  readonly onChange: (correct: readonly PlainAnswer[] | undefined) => void;
};

/** Edits the right answer to the selected question, with a control that fits its answers. */
export function CorrectField({ spec: { title: label }, value, error, onChange }: CorrectProps): ReactElement {
  const { root, selection } = useEditorState(useBuilder().editor).history.present;
  const node = pathToNode(root, selection).at(-1)!;
  const type = node.type as InputType;
  const correct = (Array.isArray(value) ? (value as readonly unknown[]) : []).filter(isPlain);
  const first = correct[0];
  const change = (answers: readonly PlainAnswer[]): void =>
    onChange(answers.length === 0 ? undefined : answers);
  const { kind } = inputRules[type];
  const field = {
    label,
    error,
    description: notes[kind === 'choice' ? 'choice' : isListKind(kind) ? 'choices' : 'other'],
  };
  if (kind === 'choice' || isListKind(kind))
    return (
      <CheckboxGroup
        {...field}
        choices={validOptionsOf(node.attrs['options']).map(({ id, label }) => ({ id, label }))}
        value={correct.filter((one) => typeof one === 'string')}
        onChange={change}
      />
    );
  if (kind === 'boolean')
    return (
      <Select
        {...field}
        value={String(first ?? '')}
        choices={[
          { id: '', label: 'None' },
          { id: 'true', label: 'Yes' },
          { id: 'false', label: 'No' },
        ]}
        onChange={(text) => change(text === '' ? [] : [text === 'true'])}
      />
    );
  if (kind === 'number')
    return (
      <NumberInput
        {...field}
        value={first}
        isWhole={false}
        onChange={(number) => change(number === undefined ? [] : [number])}
      />
    );
  if (kind === 'moment')
    return (
      <TextField
        {...field}
        type={elementDefinitions[type].control ?? 'date'}
        value={String(first ?? '')}
        onChange={(text) => change(text === '' ? [] : [text])}
      />
    );
  return <TextAnswers {...field} correct={correct.join('\n')} onChange={change} />;
}

type TextProps = {
  readonly label: string;
  readonly error: string | undefined;
  /** The right answers, one per line. */
  readonly correct: string;
  readonly onChange: (answers: readonly string[]) => void;
};

/** Edits right answers as lines. Blank lines stay in the field, so that the next answer can be typed. */
function TextAnswers({ label, error, correct, onChange }: TextProps): ReactElement {
  const [typed, setTyped] = useState(correct);
  const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');
  return (
    <TextArea
      label={label}
      error={error}
      description="One per line. Each of them is right. Letter case is ignored."
      rows={2}
      // Undo and other editors can change the value.
      value={linesOf(typed).join('\n') === correct ? typed : correct}
      onChange={(text) => {
        setTyped(text);
        onChange(linesOf(text));
      }}
    />
  );
}

const notes = {
  choice: 'If you select several, each of them is right.',
  choices: 'Exactly these must be chosen.',
  other: undefined,
} as const;
