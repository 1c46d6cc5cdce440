import { type ReactElement, useEffect, useEffectEvent, useState } from 'react';
import { isElementId } from '#ast/attributes/attributes.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { sayNode } from '../model/compare.ts';
import { type EditNode, findNode } from '../model/edit-node.ts';
import { indexOf } from '../model/form-index.ts';
import { listReferences } from '../model/references.ts';
import { readTypes } from './read-types.ts';

type IdProps = {
  readonly label: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly isLocked: boolean;
  readonly isNeeded: boolean;
  readonly onChange: (id: string | undefined) => void;
};

/**
 * The id of the selected part. It is taken over when the field is left, and only as a whole and free one, since every
 * condition that names it follows (docs/rules.md B7); Escape puts the old one back.
 */
export function IdInput({ label, value, error, isLocked, isNeeded, onChange }: IdProps): ReactElement {
  const { editor } = useBuilder();
  const { root, selection } = useEditorState(editor).history.present;
  const [typed, setTyped] = useState<string | undefined>();
  const isStep = findNode(root, selection)?.type === 'step';
  const taken = indexOf(root)[isStep ? 'steps' : 'elements'];
  const refusal = typed === undefined || typed === value ? undefined : refuse(typed, isNeeded, taken);
  const take = (): void => {
    if (typed !== undefined && typed !== value && !refusal) onChange(typed === '' ? undefined : typed);
    setTyped(undefined);
  };
  // Who selects another part by what leaves the focus where it is takes the field away before it is left.
  const takeLast = useEffectEvent(take);
  useEffect(() => () => takeLast(), []);
  const dependants = listReferences(root)
    .filter(({ name, of }) => name === value && (of === 'step') === isStep)
    .map(({ from }) => findNode(root, from))
    .filter((node) => node !== undefined);
  const names = [...new Set(dependants.map(sayNode))].join(', ');
  return (
    <TextField
      label={label}
      value={typed ?? value}
      onChange={setTyped}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take();
        if (event.key === 'Escape') setTyped(undefined);
      }}
      isReadOnly={isLocked}
      error={refusal ?? error}
      description={`${describe(isLocked, isStep)}${names && ` Named in the logic of ${names}${isLocked ? '' : ', which follows'}.`}`}
      spellCheck="false"
      autoComplete="off"
    />
  );
}

function describe(isLocked: boolean, isStep: boolean): string {
  if (isStep) return 'The name by which jumps find this step.';
  return isLocked
    ? 'Fixed: this form was published, and answers are stored under it.'
    : 'What programs call the answer.';
}

function refuse(
  id: string,
  isNeeded: boolean,
  taken: ReadonlyMap<string, { readonly node: EditNode }>,
): string | undefined {
  if (id === '') return isNeeded ? 'Programs need a name for the answer.' : undefined;
  if (!isElementId(id)) return 'Begin with a letter; then letters, digits, "-" and "_".';
  const other = taken.get(id);
  return other && `${sayNode(other.node)} is called that already.`;
}

type FileTypesProps = {
  readonly label: string;
  readonly value: unknown;
  readonly error: string | undefined;
  /** Undefined lets every type in. */
  readonly onChange: (types: readonly string[] | undefined) => void;
};

/** What most uploads ask for. */
const presets = [
  { title: 'Images', types: ['image/*'] },
  { title: 'PDF', types: ['.pdf'] },
  { title: 'Documents', types: ['.pdf', '.doc', '.docx', '.odt'] },
  { title: 'Tables', types: ['.csv', '.xls', '.xlsx', '.ods'] },
] as const;

/** The types of files that an upload takes, as a list of endings and media types. */
export function FileTypesInput({ label, value, error, onChange }: FileTypesProps): ReactElement {
  const types = Array.isArray(value) ? value.map(String) : [];
  const [typed, setTyped] = useState<string | undefined>();
  const put = (list: readonly string[]): void => onChange(list.length === 0 ? undefined : list);
  return (
    <div className="stack-tight">
      <TextField
        label={label}
        description="Such as .pdf, image/* or application/zip, with commas between them. Empty: every type."
        value={typed ?? types.join(', ')}
        onChange={setTyped}
        onBlur={() => {
          if (typed !== undefined) put(readTypes(typed));
          setTyped(undefined);
        }}
        error={error}
        spellCheck="false"
        autoComplete="off"
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
