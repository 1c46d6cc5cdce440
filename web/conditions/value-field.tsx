import { type ReactElement, useState } from 'react';
import type { MomentFormat } from '#ast/rules/moments.ts';
import { CheckboxGroup } from '../design/checkbox.tsx';
import { TextArea, TextField } from '../design/field.tsx';
import { NumberInput } from '../design/number-input.tsx';
import { readNumber } from '../design/read-number.ts';
import { Select } from '../design/select.tsx';
import {
  type ComparisonSubject,
  parseTimeLimit,
  type TimeLimitKind,
  timeLimitKinds,
} from './condition-tree.ts';

type TimeLimitProps = {
  readonly label: string;
  readonly format: MomentFormat;
  readonly value: unknown;
  /** The label of the option without a limit. */
  readonly noneLabel?: string;
  readonly error: string | undefined;
  /** Undefined removes the limit. */
  readonly onChange: (value: string | undefined) => void;
};

const inputTypes = { date: 'date', datetime: 'datetime-local', time: 'time' } as const;
const timeLimitLabels: Readonly<Record<TimeLimitKind, string>> = {
  none: 'No limit',
  fixed: 'Fixed date',
  before: 'Days before today (0 for today)',
  after: 'Days after today',
};

/**
 * Edits a time limit: a fixed date, or a number of days before or after the day of the visit. Times of day
 * can only have a fixed limit.
 */
export function TimeLimitInput({
  label,
  format,
  noneLabel,
  value,
  error,
  onChange,
}: TimeLimitProps): ReactElement {
  const text = typeof value === 'string' ? value : '';
  const [isEntering, setEntering] = useState(false);
  const { way, days } = parseTimeLimit(text);
  const shown: TimeLimitKind = way === 'none' && isEntering ? 'fixed' : way;
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
        choices={timeLimitKinds.map((id) => ({
          id,
          label: id === 'none' && noneLabel ? noneLabel : timeLimitLabels[id],
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

type ValueProps = {
  readonly part: ComparisonSubject;
  /** The type of the tested element. Undefined for a URL parameter. */
  readonly type: string | undefined;
  /** The operator, which determines whether one value, several values or an order is compared. */
  readonly operator: string;
  readonly value: unknown;
  readonly onChange: (value: string | number | boolean | readonly (string | number)[] | undefined) => void;
};

/** A field for the value of a comparison. It fits the comparison's subject. */
export function ValueField({ part, type, operator, value, onChange }: ValueProps): ReactElement {
  const { kind, options } = part;
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const isChoice = kind === 'choice' || kind === 'choices';
  if (operator === 'one_of')
    return isChoice ? (
      optionsField()
    ) : (
      <LinesField isNumber={kind === 'number'} value={value} onChange={onChange} />
    );
  if (isChoice) {
    const known = options.some(({ id }) => id === text);
    return (
      <Select
        label="Value"
        isLabelHidden
        size="small"
        value={text}
        choices={[
          ...(known ? [] : [{ id: text, label: text || 'Choose…' }]),
          ...options.map(({ id, label }) => ({ id, label })),
        ]}
        onChange={onChange}
      />
    );
  }
  if (kind === 'boolean') {
    return (
      <Select
        label="Value"
        isLabelHidden
        size="small"
        value={value === false ? 'no' : 'yes'}
        choices={[
          { id: 'yes', label: 'Yes' },
          { id: 'no', label: 'No' },
        ]}
        onChange={(id) => onChange(id === 'yes')}
      />
    );
  }
  if (kind === 'moment') {
    return (
      <TimeLimitInput
        label="Value"
        format={type as MomentFormat}
        noneLabel="Choose…"
        value={value}
        error={undefined}
        onChange={onChange}
      />
    );
  }
  if (kind === 'number')
    return <NumberInput label="Value" value={value} isWhole={false} error={undefined} onChange={onChange} />;
  return (
    <TextField
      label="Value"
      value={text}
      onChange={(next) => onChange(next === '' ? undefined : readPlain(next, operator))}
    />
  );

  function optionsField(): ReactElement {
    const chosen = Array.isArray(value) ? value.map(String) : [];
    return (
      <div className="logic-options">
        <CheckboxGroup
          label="Values"
          choices={options.map(({ id, label }) => ({ id, label }))}
          value={chosen}
          onChange={(ids) => onChange(ids.length === 0 ? undefined : ids)}
        />
      </div>
    );
  }
}

const ordered = ['greater_than', 'at_least', 'less_than', 'at_most'];

/**
 * Parses the value for a URL parameter, which is text. For order operators, numeric values are compared as
 * numbers.
 */
const readPlain = (text: string, operator: string): string | number =>
  ordered.includes(operator) ? (readNumber(text, false) ?? text) : text;

/** Edits several values, one per line. The field shows the typed text; blank lines are ignored. */
function LinesField({ isNumber, value, onChange }: LinesProps): ReactElement {
  const lines = Array.isArray(value) ? value.map(String) : [];
  const [typed, setTyped] = useState<string | undefined>();
  return (
    <TextArea
      label="Values, one per line"
      value={typed ?? lines.join('\n')}
      onChange={(text) => {
        setTyped(text);
        const values = text
          .split('\n')
          .map((line) => line.trim())
          .filter(Boolean);
        onChange(
          values.length === 0
            ? undefined
            : values.map((line) => (isNumber ? (readNumber(line, false) ?? line) : line)),
        );
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

type LinesProps = { readonly isNumber: boolean } & Pick<ValueProps, 'value' | 'onChange'>;
