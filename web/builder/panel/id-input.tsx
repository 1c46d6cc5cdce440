import { type ReactElement, useEffect, useEffectEvent, useState } from 'react';
import { isElementId } from '#ast/attributes/attributes.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { useLeft } from '../../design/use-left.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { describeNode } from '../model/compare.ts';
import { type EditNode, findNode } from '../model/edit-node.ts';
import { editorFormIndexOf } from '../model/form-index.ts';
import { listNodeReferences } from '../model/references.ts';
import { parseFileTypes } from './parse-file-types.ts';

type IdProps = {
  readonly label: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly isLocked: boolean;
  readonly isNeeded: boolean;
  readonly onChange: (id: string | undefined) => void;
};

/**
 * Edits the id of the selected node. A valid, unused id applies when the field loses focus, because every
 * condition that refers to it is updated (docs/rules.md B7). Escape restores the old id.
 */
export function IdInput({ label, value, error, isLocked, isNeeded, onChange }: IdProps): ReactElement {
  const { editor } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const [typed, setTyped] = useState<string | undefined>();
  const left = useLeft(true);
  const isStep = findNode(root, selection)?.type === 'step';
  const taken = editorFormIndexOf(root)[isStep ? 'steps' : 'elements'];
  const refusal = typed === undefined || typed === value ? undefined : refuse(typed, isNeeded, root, taken);
  const take = (): void => {
    // A refused id stays in the field, with the reason.
    if (refusal) return left.leave();
    if (typed !== undefined && typed !== value) onChange(typed === '' ? undefined : typed);
    setTyped(undefined);
  };
  // Selecting another node without moving focus removes the field before its blur event fires.
  const takeLast = useEffectEvent(take);
  useEffect(() => () => takeLast(), []);
  const dependants = listNodeReferences(root)
    .filter(({ name, of }) => name === value && (of === 'step') === isStep)
    .map(({ from }) => findNode(root, from))
    .filter((node) => node !== undefined);
  const names = [...new Set(dependants.map((node) => describeNode(root, node)))].join(', ');
  return (
    <TextField
      label={label}
      value={typed ?? value}
      onChange={(text) => {
        left.enter();
        setTyped(text);
      }}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take();
        if (event.key === 'Escape') setTyped(undefined);
      }}
      isReadOnly={isLocked}
      error={(left.isLeft ? refusal : undefined) ?? error}
      description={`${describe(isLocked, isStep)}${names && ` Used in the logic of ${names}${isLocked ? '' : ' (updated automatically)'}.`}`}
      spellCheck="false"
    />
  );
}

function describe(isLocked: boolean, isStep: boolean): string {
  if (isStep) return 'Rules that skip to this step use this ID.';
  return isLocked
    ? 'This cannot change after publishing.'
    : 'Identifies this answer in the API, exports and webhooks.';
}

function refuse(
  id: string,
  isNeeded: boolean,
  root: EditNode,
  taken: ReadonlyMap<string, { readonly node: EditNode }>,
): string | undefined {
  if (id === '') return isNeeded ? 'Enter an ID for the API, exports and webhooks.' : undefined;
  if (!isElementId(id)) return 'Start with a letter. Use only letters, digits, "-" and "_".';
  const other = taken.get(id);
  return other && `${describeNode(root, other.node)} already uses this ID.`;
}

type FileTypesProps = {
  readonly label: string;
  readonly value: unknown;
  readonly error: string | undefined;
  /** Undefined allows every type. */
  readonly onChange: (types: readonly string[] | undefined) => void;
};

/** Common sets of file types. */
const presets = [
  { title: 'Images', types: ['image/*'] },
  { title: 'PDF', types: ['.pdf'] },
  { title: 'Documents', types: ['.pdf', '.doc', '.docx', '.odt'] },
  { title: 'Spreadsheets', types: ['.csv', '.xls', '.xlsx', '.ods'] },
] as const;

/** The file types that an upload accepts, as a list of extensions and media types. */
export function FileTypesInput({ label, value, error, onChange }: FileTypesProps): ReactElement {
  const types = Array.isArray(value) ? value.map(String) : [];
  const [typed, setTyped] = useState<string | undefined>();
  const put = (list: readonly string[]): void => onChange(list.length === 0 ? undefined : list);
  return (
    <div className="stack-tight">
      <TextField
        label={label}
        description="Separate types with commas, such as .pdf, image/* or application/zip. Leave empty to allow all types."
        value={typed ?? types.join(', ')}
        onChange={setTyped}
        onBlur={() => {
          if (typed !== undefined) put(parseFileTypes(typed));
          setTyped(undefined);
        }}
        error={error}
        spellCheck="false"
      />
      <div className="row" role="group" aria-label={`Add to ${label.toLowerCase()}`}>
        {presets.map((preset) => (
          <Button
            key={preset.title}
            size="small"
            variant="quiet"
            icon="add"
            isDisabled={preset.types.every((type) => types.includes(type))}
            onPress={() => put([...new Set([...types, ...preset.types])])}
          >
            {preset.title}
          </Button>
        ))}
      </div>
    </div>
  );
}
