import { type ReactElement, useState } from 'react';
import { TextField } from './field.tsx';
import { readNumber } from './read-number.ts';
import { useLeft } from './use-left.ts';

type NumberProps = {
  readonly label: string;
  readonly description?: string | undefined;
  readonly value: unknown;
  readonly isWhole: boolean;
  readonly error: string | undefined;
  readonly isReadOnly?: boolean;
  readonly onChange: (value: number | undefined) => void;
};

/** An optional number. Incomplete input (`-`, `1.`) stays in the field and is not passed on. */
export function NumberInput({
  label,
  description,
  value,
  isWhole,
  error,
  isReadOnly = false,
  onChange,
}: NumberProps): ReactElement {
  const given = typeof value === 'number' ? String(value) : '';
  const [typed, setTyped] = useState({ text: given, given });
  // Undo and other editors can change the value; incomplete input is then discarded.
  const text = typed.given === given ? typed.text : given;
  const type = (next: string): void => {
    const number = readNumber(next, isWhole);
    const isFit = next.trim() === '' || number !== undefined;
    setTyped({ text: next, given: isFit ? (number === undefined ? '' : String(number)) : given });
    if (isFit) onChange(number);
  };
  const left = useLeft(true);
  const isUnfit = text.trim() !== '' && readNumber(text, isWhole) === undefined;
  return (
    <TextField
      label={label}
      description={description}
      inputMode={isWhole ? 'numeric' : 'decimal'}
      value={text}
      onChange={(next) => {
        left.enter();
        type(next);
      }}
      onBlur={left.leave}
      isReadOnly={isReadOnly}
      error={
        !left.isLeft
          ? undefined
          : isUnfit
            ? isWhole
              ? 'Enter a whole number.'
              : 'Enter a number like 2.5.'
            : error
      }
    />
  );
}
