import { type ReactElement, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { readTypes } from './read-types.ts';

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
