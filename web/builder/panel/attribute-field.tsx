import type { ReactElement } from 'react';
import type { AttributeKind, AttributeSpec } from '#ast/attributes.ts';
import { isElementId } from '#ast/attributes.ts';
import { Switch } from '../../design/checkbox.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { Select } from '../../design/select.tsx';
import { OptionsEditor } from './options-editor.tsx';

/** One attribute of the selected part, as it is now. */
export type AttributeProps<Kind extends AttributeKind> = {
  readonly name: string;
  readonly spec: AttributeSpec<Kind>;
  readonly value: unknown;
  /** What is wrong with the value, in words. */
  readonly error: string | undefined;
  readonly isLocked: boolean;
  /** Undefined takes the attribute away. */
  readonly onChange: (value: unknown) => void;
};

/** One field for each kind of attribute: an attribute that the table gains has its field already. */
const fields: { readonly [Kind in AttributeKind]: (props: AttributeProps<Kind>) => ReactElement } = {
  id: ({ spec, value, error, isLocked, onChange }) => (
    <TextField
      label={spec.title}
      value={textOf(value)}
      onChange={(text) => onChange(text === '' ? undefined : text)}
      isReadOnly={isLocked}
      error={
        error ??
        (value === undefined || isElementId(textOf(value))
          ? undefined
          : 'Begin with a letter; then letters, digits, "-" and "_".')
      }
      description={
        isLocked
          ? 'Fixed: this form was published, and answers are stored under it.'
          : 'The name of the answer in the API and in webhooks.'
      }
      spellCheck="false"
      autoComplete="off"
    />
  ),
  string: ({ name, spec, value, error, onChange }) => {
    const change = (text: string): void => onChange(text === '' && !spec.required ? undefined : text);
    const isLong = name === 'description' || name === 'help_text';
    const Field = isLong ? TextArea : TextField;
    return (
      <Field
        label={spec.title}
        value={textOf(value)}
        onChange={change}
        error={error}
        {...(isLong && { rows: 2 })}
      />
    );
  },
  boolean: ({ spec, value, onChange }) => (
    <Switch isSelected={typeof value === 'boolean' ? value : spec.default} onChange={onChange}>
      {spec.title}
    </Switch>
  ),
  integer: ({ name, spec, value, error, onChange }) => (
    <Select
      label={spec.title}
      {...(name === 'col_span' && { description: 'How many columns it takes in a grid.' })}
      value={String(typeof value === 'number' ? value : spec.default)}
      choices={Array.from({ length: spec.max - spec.min + 1 }, (_, index) => String(spec.min + index)).map(
        (id) => ({ id, label: id }),
      )}
      onChange={(text) => onChange(Number(text))}
      error={error}
    />
  ),
  strings: ({ spec, value, error, onChange }) => (
    <OptionsEditor
      title={spec.title}
      value={Array.isArray(value) ? value.map(String) : []}
      maxItems={spec.maxItems}
      error={error}
      onChange={onChange}
    />
  ),
  'one-of': ({ spec, value, error, onChange }) => (
    <Select
      label={spec.title}
      value={typeof value === 'string' && spec.values.includes(value) ? value : spec.default}
      choices={spec.values.map((id) => ({ id, label: layoutWords[id] ?? id }))}
      onChange={onChange}
      error={error}
    />
  ),
};

const layoutWords: Readonly<Record<string, string>> = {
  stack: 'One below the other',
  row: 'Side by side',
  grid_2: 'Two columns',
  grid_3: 'Three columns',
  grid_4: 'Four columns',
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The field that fits the attribute's kind. */
export function AttributeField<Kind extends AttributeKind>(props: AttributeProps<Kind>): ReactElement {
  const Field: (props: AttributeProps<Kind>) => ReactElement = fields[props.spec.kind];
  return <Field {...props} />;
}
