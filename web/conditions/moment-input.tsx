import { type ReactElement, useState } from 'react';
import type { MomentFormat } from '#ast/rules/moments.ts';
import { TextField } from '../design/field.tsx';
import { Select } from '../design/select.tsx';
import { NumberInput } from '../design/number-input.tsx';
import { readMoment, type Way, ways } from './moment-way.ts';

type MomentProps = {
  readonly label: string;
  readonly format: MomentFormat;
  readonly value: unknown;
  /** What the choice of no moment is called. */
  readonly noneLabel?: string;
  readonly error: string | undefined;
  /** Undefined takes the limit away. */
  readonly onChange: (value: string | undefined) => void;
};

const inputTypes = { date: 'date', datetime: 'datetime-local', time: 'time' } as const;
const wayLabels: Readonly<Record<Way, string>> = {
  none: 'No limit',
  fixed: 'A fixed date',
  before: 'Today, or days before it',
  after: 'Days after today',
};

/** A limit in time: fixed, or as far from the day on which the form is filled in. Times have no such day. */
export function MomentInput({ label, format, noneLabel, value, error, onChange }: MomentProps): ReactElement {
  const text = typeof value === 'string' ? value : '';
  const [isEntering, setEntering] = useState(false);
  const { way, days } = readMoment(text);
  const shown: Way = way === 'none' && isEntering ? 'fixed' : way;
  const fixed = (
    <TextField
      type={inputTypes[format]}
      label={format === 'time' ? label : `${label}: date`}
      value={way === 'fixed' ? text : ''}
      onChange={(next) => onChange(next === '' ? undefined : next)}
      error={error}
    />
  );
  if (format === 'time') return fixed;
  return (
    <>
      <Select
        label={label}
        value={shown}
        choices={ways.map((id) => ({
          id,
          label: id === 'none' && noneLabel ? noneLabel : wayLabels[id],
        }))}
        onChange={(next) => {
          setEntering(next === 'fixed');
          onChange(next === 'before' ? 'today' : next === 'after' ? 'today+1' : undefined);
        }}
        error={shown === 'none' ? error : undefined}
      />
      {shown === 'fixed' && fixed}
      {(shown === 'before' || shown === 'after') && (
        <NumberInput
          label={shown === 'before' ? `${label}: days before today` : `${label}: days after today`}
          value={days}
          isWhole
          error={error}
          onChange={(number = 0) =>
            onChange(number === 0 ? 'today' : `today${shown === 'before' ? '-' : '+'}${number}`)
          }
        />
      )}
    </>
  );
}
