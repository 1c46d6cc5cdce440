import './conditions.css';
import { type ReactElement, type ReactNode, useRef } from 'react';
import { formLimits } from '#ast/basics/limits.ts';
import { elementDefinitions, isElementType } from '#ast/form/elements.ts';
import { PipedText } from '../design/author-text.tsx';
import { Button, IconButton } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Select } from '../design/select.tsx';
import {
  type ComparisonLeaf,
  type ConditionGroup,
  type ConditionPart,
  type ConditionPartPath,
  comparisonSubject,
  formatOperator,
  formatTestedLabel,
  type GroupMode,
  groupModes,
  isOperator,
  listComparableNodes,
  newComparison,
  operatorsOf,
  replaceConditionPart,
  shownOperator,
  type TestedNode,
  takesValue,
  withMatrixRows,
  withOperator,
  withSubject,
} from './condition-tree.ts';
import type { Sentence } from './describe-condition.ts';
import { ValueField } from './value-field.tsx';

type ComparisonProps = {
  /** The path of the comparison, by which it is found in the page. */
  readonly name: string;
  readonly number: number;
  readonly leaf: ComparisonLeaf;
  readonly nameable: readonly TestedNode[];
  readonly onChange: (leaf: ComparisonLeaf | undefined) => void;
};

/** The choice for a URL parameter. No element can have this id. */
const referenceChoice = '?';

/** Edits a comparison: the question, the operator and the value. */
function ComparisonEditor({ name, number, leaf, nameable, onChange }: ComparisonProps): ReactElement {
  const { subject, other } = leaf;
  const tested =
    subject.of === 'element' ? nameable.find((node) => keyOf(node) === subjectKey(subject)) : undefined;
  const part = comparisonSubject(tested);
  const is = shownOperator(leaf.is, part.kind);
  const operators = operatorsOf(tested);
  const comparable = listComparableNodes(tested, is, nameable);
  return (
    <div className="logic-comparison" data-part={name} role="group" aria-label={`Comparison ${number}`}>
      <div className="logic-head">
        <Select
          label="Answer to"
          isLabelHidden
          size="small"
          value={subject.of === 'reference' ? referenceChoice : subjectKey(subject)}
          choices={subjectChoices(leaf, nameable, tested)}
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
          label={`Remove condition ${number}`}
          size="small"
          onPress={() => onChange(undefined)}
        />
      </div>
      {subject.of === 'reference' && (
        <TextField
          label="Parameter name"
          description="As in ?source=email"
          value={subject.name}
          onChange={(text) => onChange({ ...leaf, subject: { of: 'reference', name: text } })}
          spellCheck="false"
        />
      )}
      <Select
        label="Condition"
        isLabelHidden
        size="small"
        value={is}
        choices={[
          ...operators.map((id) => ({ id: id as string, label: formatOperator(id, part.kind) })),
          ...(operators.some((id) => id === is) ? [] : [{ id: is, label: `${is} (not available)` }]),
        ]}
        onChange={(id) => isOperator(id) && onChange(withOperator(leaf, part, id))}
      />
      {(comparable.length > 0 || other !== undefined) && (
        <Select
          label="Compare with"
          isLabelHidden
          size="small"
          value={other ?? valueChoice}
          choices={otherChoices(other, comparable)}
          onChange={(id) =>
            onChange(id === valueChoice ? withoutOther(leaf) : { ...withoutValue(leaf), other: id })
          }
        />
      )}
      {takesValue(is) && other === undefined && (
        <ValueField
          part={part}
          type={tested?.type}
          operator={is}
          value={leaf.value}
          onChange={(value) => onChange(value === undefined ? withoutValue(leaf) : { ...leaf, value })}
        />
      )}
    </div>
  );
}

/** Returns the key of an element or a matrix row. Brackets are safe, because ids have none. */
const subjectKey = ({ name, row }: ComparisonLeaf['subject']): string =>
  row === undefined ? name : `${name}[${row}]`;
const keyOf = (node: TestedNode): string => subjectKey(newComparison(node).subject);

const withoutValue = ({ value: _value, ...leaf }: ComparisonLeaf): ComparisonLeaf => leaf;
const withoutOther = ({ other: _other, ...leaf }: ComparisonLeaf): ComparisonLeaf => leaf;

/** The choice for a fixed value. No element can have this id. */
const valueChoice = '=';

function otherChoices(other: string | undefined, comparable: readonly TestedNode[]) {
  const isMissing = other !== undefined && !comparable.some((node) => keyOf(node) === other);
  return [
    { id: valueChoice, label: 'A value' },
    ...(isMissing ? [{ id: other, label: `${other} (missing)` }] : []),
    ...comparable.map((node) => ({
      id: keyOf(node),
      label: formatTestedLabel(node),
      description: 'Another question',
    })),
  ];
}

function subjectChoices(
  leaf: ComparisonLeaf,
  nameable: readonly TestedNode[],
  tested: TestedNode | undefined,
) {
  const key = subjectKey(leaf.subject);
  return [
    ...(leaf.subject.of === 'element' && !tested ? [{ id: key, label: `${key} (missing)` }] : []),
    ...nameable.map((node) => ({
      id: keyOf(node),
      label: formatTestedLabel(node),
      description:
        node.row !== undefined
          ? 'Row'
          : isElementType(node.type)
            ? elementDefinitions[node.type].title
            : node.type,
    })),
    { id: referenceChoice, label: 'URL parameter', description: 'Reference data' },
  ];
}

const modeLabels: Readonly<Record<GroupMode, string>> = {
  all: 'All of these are true',
  any: 'Any of these is true',
  none: 'None of these is true',
  not_all: 'Not all of these are true',
};

type EditorProps = {
  readonly group: ConditionGroup;
  /** The elements that a comparison can test, in reading order. */
  readonly nameable: readonly TestedNode[];
  /** The element of a new comparison. */
  readonly suggested: TestedNode | undefined;
  /** Undefined if the last comparison was removed. */
  readonly onChange: (group: ConditionGroup | undefined) => void;
};

/** Edits a condition as nested groups of comparisons. Every control is a button, a list or a field. */
export function ConditionEditor({ group, nameable, suggested, onChange }: EditorProps): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const change: ChangePart = (path, make, focus) => {
    onChange(replaceConditionPart(group, path, make));
    const { current } = place;
    requestAnimationFrame(() => focusPart(current, focus ?? path));
  };
  return (
    <div ref={place}>
      <GroupEditor
        group={group}
        path={[]}
        nameable={withMatrixRows(nameable)}
        suggested={suggested}
        onChange={change}
      />
    </div>
  );
}

/** Changes the part at a path, and then focuses the part at `focus`, or the changed one. */
type ChangePart = (
  path: ConditionPartPath,
  make: (part: ConditionPart) => ConditionPart | undefined,
  focus?: ConditionPartPath,
) => void;

const nameOfPath = (path: ConditionPartPath): string => path.join('.');

/** Focuses an added part, or the group around a removed one. */
function focusPart(place: HTMLElement | null, path: ConditionPartPath): void {
  const part = place?.querySelector(`[data-part="${nameOfPath(path)}"]`);
  if (!part || part.contains(document.activeElement)) return;
  part.querySelector<HTMLElement>('button, input')?.focus();
}

type GroupProps = Pick<EditorProps, 'group' | 'nameable' | 'suggested'> & {
  readonly path: ConditionPartPath;
  readonly onChange: ChangePart;
};

function GroupEditor({ group, path, nameable, suggested, onChange }: GroupProps): ReactElement {
  const { mode, parts } = group;
  const add = (part: ConditionPart): void =>
    onChange(path, () => ({ ...group, parts: [...parts, part] }), [...path, parts.length]);
  const isDeep = path.length >= formLimits.conditionDepth - 1;
  const suggestion = newComparison(suggested);
  return (
    <div className="logic-group" data-part={nameOfPath(path)} role="group" aria-label={modeLabels[mode]}>
      <div className="logic-head">
        <Select
          label="Conditions to match"
          isLabelHidden
          size="small"
          value={mode}
          choices={groupModes.map((id) => ({ id, label: modeLabels[id] }))}
          onChange={(next) => onChange(path, () => ({ ...group, mode: next }))}
        />
        {path.length > 0 && (
          <IconButton
            icon="close"
            label="Remove group"
            size="small"
            onPress={() => onChange(path, () => undefined, path.slice(0, -1))}
          />
        )}
      </div>
      {parts.map((part, index) => {
        const at = [...path, index];
        // Parts are keyed by index, because a comparison has no id.
        return part.kind === 'group' ? (
          <GroupEditor
            key={index}
            group={part}
            path={at}
            nameable={nameable}
            suggested={suggested}
            onChange={onChange}
          />
        ) : (
          <ComparisonEditor
            key={index}
            name={nameOfPath(at)}
            number={index + 1}
            leaf={part}
            nameable={nameable}
            onChange={(next) => onChange(at, () => next, next ? at : path)}
          />
        );
      })}
      <div className="row">
        <Button size="small" variant="quiet" icon="add" onPress={() => add(suggestion)}>
          Add condition
        </Button>
        <Button
          size="small"
          variant="quiet"
          icon="add"
          isDisabled={isDeep}
          onPress={() => add({ kind: 'group', mode: 'any', parts: [suggestion] })}
        >
          Add group
        </Button>
      </div>
    </div>
  );
}

/** Renders a sentence with the author's text highlighted. */
export function SentenceText({ sentence }: { sentence: Sentence }): ReactNode {
  return sentence.map(({ text, isStrong }, index) =>
    // Pieces are keyed by index, because a sentence is always rendered as a whole.
    isStrong ? (
      <em key={index} className="condition-strong">
        <PipedText text={text} />
      </em>
    ) : (
      <span key={index}>{text}</span>
    ),
  );
}
