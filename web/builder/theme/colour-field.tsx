import type { ReactElement } from 'react';
import { TextField } from '../../design/field.tsx';

type ColourProps = {
  readonly label: string;
  readonly description?: string;
  /** What is entered, which may not be a colour yet; '' for none. */
  readonly value: string;
  /** What the picker shows while nothing is chosen. */
  readonly fallback: string;
  readonly error: string | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
};

/** A colour, by the browser's own picker or as `#rrggbb`. */
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
