import type { ReactElement } from 'react';
import { TextField } from '../../design/field.tsx';

type ColourProps = {
  readonly label: string;
  readonly description?: string;
  /** The text entered, which may not be a valid color; '' for none. */
  readonly value: string;
  /** The color that the picker shows if none is chosen. */
  readonly fallback: string;
  readonly error: string | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
};

/** A color field with the browser's picker and a text box for `#rrggbb`. */
export function ColourField({ fallback, value, onChange, isReadOnly, ...rest }: ColourProps): ReactElement {
  const shown = /^#[0-9a-f]{6}$/i.test(value) ? value : fallback;
  return (
    <div className="colour-field">
      <TextField
        {...rest}
        value={value}
        placeholder={fallback}
        autoComplete="off"
        spellCheck="false"
        isReadOnly={isReadOnly}
        onChange={(text) => onChange(text.trim().toLowerCase())}
      />
      <input
        type="color"
        aria-label={`${rest.label}: pick`}
        value={shown}
        disabled={isReadOnly}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
