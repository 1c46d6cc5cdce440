import './header-fields.css';
import type { ReactElement } from 'react';
import { Button, IconButton } from '../../design/button.tsx';
import { FieldNotes, TextField } from '../../design/field.tsx';
import { LateProblem } from '../../design/message.tsx';
import { emptyHeader, type HeaderDraft, mostHeaders } from './header-draft.ts';

type Props = {
  headers: readonly HeaderDraft[];
  onChange: (headers: HeaderDraft[]) => void;
  error: string | undefined;
};

/** Headers that a person adds to every delivery. A value that was saved is not shown again: it is kept or replaced. */
export function HeaderFields({ headers, onChange, error }: Props): ReactElement {
  const change = (key: string, what: Partial<HeaderDraft>): void =>
    onChange(headers.map((header) => (header.key === key ? { ...header, ...what } : header)));
  return (
    <fieldset className="header-fields">
      <legend className="field-label">Headers</legend>
      <FieldNotes description="Sent with every delivery, for example Authorization. Values are encrypted, and not shown again." />
      {headers.map(({ key, name, value, isStored }, index) => (
        <div key={key} className="header-field">
          <TextField
            label={`Name of header ${index + 1}`}
            value={name}
            isReadOnly={isStored}
            onChange={(text) => change(key, { name: text.trim() })}
            autoComplete="off"
            spellCheck="false"
          />
          <TextField
            label={`Value of header ${index + 1}`}
            value={value}
            placeholder={isStored ? 'unchanged' : ''}
            onChange={(text) => change(key, { value: text })}
            autoComplete="off"
            spellCheck="false"
          />
          <IconButton
            icon="remove"
            label={`Remove header ${name || index + 1}`}
            onPress={() => onChange(headers.filter((header) => header.key !== key))}
          />
        </div>
      ))}
      {headers.length < mostHeaders && (
        <Button size="small" icon="add" onPress={() => onChange([...headers, emptyHeader()])}>
          Add header
        </Button>
      )}
      {error && <LateProblem>{error}</LateProblem>}
    </fieldset>
  );
}
