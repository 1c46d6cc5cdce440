import type { ReactElement } from 'react';
import { elements, isElementType } from '#ast/elements.ts';
import { IconButton } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Select } from '../design/select.tsx';
import { type AskedNode, sayAsked } from './asked-node.ts';
import type { Leaf } from './condition-tree.ts';
import { askedPart, newLeaf, withOperator, withSubject } from './new-leaf.ts';
import { isOperator, operatorsOf, sayOperator, takesValue } from './operators.ts';
import { ValueField } from './value-field.tsx';

type ComparisonProps = {
  /** Where it stands, for whoever looks for it in the page. */
  readonly name: string;
  readonly number: number;
  readonly leaf: Leaf;
  readonly nameable: readonly AskedNode[];
  /** Undefined takes it away. */
  readonly onChange: (leaf: Leaf | undefined) => void;
};

/** The choice that means a value of the address; no element can have this id. */
const referenceChoice = '?';

/** One comparison: whose answer, how, with what. */
export function ComparisonEditor({ name, number, leaf, nameable, onChange }: ComparisonProps): ReactElement {
  const { subject, is } = leaf;
  const asked =
    subject.of === 'element' ? nameable.find((node) => keyOf(node) === subjectKey(subject)) : undefined;
  const part = askedPart(asked);
  const operators = operatorsOf(asked);
  return (
    <div className="logic-comparison" data-part={name} role="group" aria-label={`Comparison ${number}`}>
      <div className="logic-head">
        <Select
          label="Answer to"
          isLabelHidden
          size="small"
          value={subject.of === 'reference' ? referenceChoice : subjectKey(subject)}
          choices={subjectChoices(leaf, nameable, asked)}
          onChange={(id) =>
            onChange(
              withSubject(
                leaf,
                nameable.find((node) => keyOf(node) === id),
              ),
            )
          }
        />
        <IconButton
          icon="close"
          label={`Remove comparison ${number}`}
          size="small"
          onPress={() => onChange(undefined)}
        />
      </div>
      {subject.of === 'reference' && (
        <TextField
          label="Name in the address"
          description="As in ?source=mail"
          value={subject.name}
          onChange={(text) => onChange({ ...leaf, subject: { of: 'reference', name: text } })}
          spellCheck="false"
          autoComplete="off"
        />
      )}
      <Select
        label="How it compares"
        isLabelHidden
        size="small"
        value={is}
        choices={[
          ...operators.map((id) => ({ id: id as string, label: sayOperator(id, part.kind) })),
          ...(operators.some((id) => id === is) ? [] : [{ id: is, label: `${is} (does not fit)` }]),
        ]}
        onChange={(id) => isOperator(id) && onChange(withOperator(leaf, part, id))}
      />
      {takesValue(is) && (
        <ValueField
          part={part}
          type={asked?.type}
          operator={is}
          value={leaf.value}
          onChange={(value) => onChange(value === undefined ? withoutValue(leaf) : { ...leaf, value })}
        />
      )}
    </div>
  );
}

/** An element, or one of its rows: ids have no brackets. */
const subjectKey = ({ name, row }: Leaf['subject']): string => (row === undefined ? name : `${name}[${row}]`);
const keyOf = (node: AskedNode): string => subjectKey(newLeaf(node).subject);

const withoutValue = ({ value: _value, ...leaf }: Leaf): Leaf => leaf;

function subjectChoices(leaf: Leaf, nameable: readonly AskedNode[], asked: AskedNode | undefined) {
  const key = subjectKey(leaf.subject);
  return [
    ...(leaf.subject.of === 'element' && !asked ? [{ id: key, label: `${key} (missing)` }] : []),
    ...nameable.map((node) => ({
      id: keyOf(node),
      label: sayAsked(node),
      description:
        node.row !== undefined ? 'Row' : isElementType(node.type) ? elements[node.type].title : node.type,
    })),
    { id: referenceChoice, label: 'A value of the address', description: 'Reference data' },
  ];
}
