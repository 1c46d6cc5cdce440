import type { ReactElement } from 'react';
import type { SettingKind } from '#ast/settings-kinds.ts';
import { RadioGroup, Switch } from '../../design/checkbox.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { readNumber } from '../../design/read-number.ts';
import { Select, type SelectChoice } from '../../design/select.tsx';
import { PipedReading } from '../panel/formula-input.tsx';
import { ImageField } from '../panel/image-field.tsx';
import { fromLocalDateTime, toLocalDateTime } from './settings-values.ts';

type DeclaredProps = {
  readonly label: string;
  readonly description: string;
  readonly error: string | undefined;
  readonly control: SettingKind<unknown>['control'];
  readonly choices: readonly SelectChoice<string>[] | undefined;
  readonly value: unknown;
  readonly isReadOnly: boolean;
  readonly placeholder?: string | undefined;
  /** For an image: the workspace that stores it, and its address. */
  readonly image?: { readonly workspaceId: string; readonly address: string | undefined };
  /** Undefined removes the value. */
  readonly onChange: (value: unknown) => void;
};

/** The control of a setting or of a part of the theme, as its row in the table declares it. */
export function DeclaredField({
  control,
  choices = [],
  value,
  isReadOnly,
  placeholder,
  image,
  onChange,
  ...field
}: DeclaredProps): ReactElement | null {
  // A number that is not valid yet is kept as it was entered.
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const shared = { ...field, value: text, onChange, isReadOnly };
  switch (control) {
    case 'switch':
      return (
        <Switch
          isSelected={value === true}
          onChange={onChange}
          description={field.description}
          isDisabled={isReadOnly}
        >
          {field.label}
        </Switch>
      );
    case 'radio':
    case 'select': {
      const Control = control === 'radio' ? RadioGroup : Select;
      return (
        <Control {...field} choices={choices} value={text} onChange={onChange} isDisabled={isReadOnly} />
      );
    }
    case 'text':
      return (
        <div>
          <TextArea {...shared} />
          <PipedReading text={text} />
        </div>
      );
    case 'line':
    case 'url':
      return (
        <TextField
          {...shared}
          {...(control === 'url' ? { type: 'url', placeholder: 'https://' } : { placeholder })}
        />
      );
    case 'time':
      return (
        <TextField
          {...shared}
          type="datetime-local"
          value={toLocalDateTime(text)}
          onChange={(local) => onChange(fromLocalDateTime(local))}
        />
      );
    case 'number':
      return (
        <TextField
          {...shared}
          inputMode="numeric"
          onChange={(written) => onChange(readNumber(written, true) ?? written)}
        />
      );
    case 'image':
      return image ? <ImageField {...field} {...image} isReadOnly={isReadOnly} onChange={onChange} /> : null;
    default:
      return null;
  }
}
