import './conditions.css';
import { type ReactElement, useRef } from 'react';
import { limits } from '#ast/limits.ts';
import { Button, IconButton } from '../design/button.tsx';
import { Select } from '../design/select.tsx';
import { type AskedNode, withRows } from './asked-node.ts';
import { ComparisonEditor } from './comparison-editor.tsx';
import {
  changePart,
  type Group,
  type GroupMode,
  groupModes,
  type Part,
  type PartPath,
} from './condition-tree.ts';
import { newLeaf } from './new-leaf.ts';

const modeLabels: Readonly<Record<GroupMode, string>> = {
  all: 'All of these hold',
  any: 'Any of these holds',
  none: 'None of these holds',
  not_all: 'Not all of these hold',
};

type EditorProps = {
  readonly group: Group;
  /** What it may ask, in reading order. */
  readonly nameable: readonly AskedNode[];
  /** Undefined when the last comparison was taken away. */
  readonly onChange: (group: Group | undefined) => void;
};

/** A condition as groups of comparisons; everything in it is a button, a list or a field, and so are its groups. */
export function ConditionEditor({ group, nameable, onChange }: EditorProps): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const change: ChangePart = (path, make, focus) => {
    onChange(changePart(group, path, make));
    const { current } = place;
    requestAnimationFrame(() => focusPart(current, focus ?? path));
  };
  return (
    <div ref={place}>
      <GroupEditor group={group} path={[]} nameable={withRows(nameable)} onChange={change} />
    </div>
  );
}

/** Changes the part at a path, and then focuses the one at `focus`, else it. */
type ChangePart = (path: PartPath, make: (part: Part) => Part | undefined, focus?: PartPath) => void;

const nameOfPath = (path: PartPath): string => path.join('.');

/** What was just added is where one goes on; where something was taken away, the group around it is. */
function focusPart(place: HTMLElement | null, path: PartPath): void {
  const part = place?.querySelector(`[data-part="${nameOfPath(path)}"]`);
  if (!part || part.contains(document.activeElement)) return;
  part.querySelector<HTMLElement>('button, input')?.focus();
}

type GroupProps = {
  readonly group: Group;
  readonly path: PartPath;
  readonly nameable: readonly AskedNode[];
  readonly onChange: ChangePart;
};

function GroupEditor({ group, path, nameable, onChange }: GroupProps): ReactElement {
  const { mode, parts } = group;
  const add = (part: Part): void =>
    onChange(path, () => ({ ...group, parts: [...parts, part] }), [...path, parts.length]);
  const isDeep = path.length >= limits.conditionDepth - 1;
  const suggestion = newLeaf(nameable.at(-1));
  return (
    <div className="logic-group" data-part={nameOfPath(path)} role="group" aria-label={modeLabels[mode]}>
      <div className="logic-head">
        <Select
          label="How these decide"
          isLabelHidden
          size="small"
          value={mode}
          choices={groupModes.map((id) => ({ id, label: modeLabels[id] }))}
          onChange={(next) => onChange(path, () => ({ ...group, mode: next }))}
        />
        {path.length > 0 && (
          <IconButton
            icon="close"
            label="Remove this group"
            size="small"
            onPress={() => onChange(path, () => undefined, path.slice(0, -1))}
          />
        )}
      </div>
      {parts.map((part, index) => {
        const at = [...path, index];
        // The place is the identity: a comparison has none of its own.
        return part.kind === 'group' ? (
          <GroupEditor key={index} group={part} path={at} nameable={nameable} onChange={onChange} />
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
          Comparison
        </Button>
        <Button
          size="small"
          variant="quiet"
          icon="add"
          isDisabled={isDeep}
          onPress={() => add({ kind: 'group', mode: 'any', parts: [suggestion] })}
        >
          Group
        </Button>
      </div>
    </div>
  );
}
