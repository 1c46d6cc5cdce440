import { type ReactElement, useMemo, useState } from 'react';
import { compilePattern } from '#ast/rules/pattern.ts';
import { patternProblem } from '#ast/rules/pattern-problem.ts';
import { newWork } from '#ast/work.ts';
import { TextField } from '../../design/field.tsx';

type PatternProps = {
  readonly label: string;
  readonly value: unknown;
  readonly error: string | undefined;
  /** Undefined takes the pattern away. */
  readonly onChange: (pattern: string | undefined) => void;
};

/** A pattern, and a field to try answers in: by the very engine that checks them on the page and on the server. */
export function PatternInput({ label, value, error, onChange }: PatternProps): ReactElement {
  const source = typeof value === 'string' ? value : '';
  const [sample, setSample] = useState('');
  const problem = source === '' ? undefined : patternProblem(source);
  const matches = useMemo(
    () => source !== '' && !problem && compilePattern(source).matches(sample, newWork()),
    [source, problem, sample],
  );
  return (
    <div className="stack-tight">
      <TextField
        label={label}
        description="A regular expression for the whole answer, such as [A-Z]{2}\d{4}."
        value={source}
        onChange={(text) => onChange(text === '' ? undefined : text)}
        error={problem ? `The pattern ${problem}.` : error}
        className="pattern-source"
        spellCheck="false"
        autoComplete="off"
      />
      {source !== '' && !problem && (
        <>
          <TextField label="Try an answer" value={sample} onChange={setSample} autoComplete="off" />
          <p className="small" role="status" data-matches={sample === '' ? undefined : matches}>
            {sample === '' ? 'It says here whether the pattern takes it.' : sayMatch(matches)}
          </p>
        </>
      )}
    </div>
  );
}

const sayMatch = (matches: boolean): string =>
  matches ? '✓ The pattern takes this answer.' : '✗ The pattern refuses this answer.';
