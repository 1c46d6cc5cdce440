import { type ReactElement, useMemo, useState } from 'react';
import type { AttributeKind, AttributeSpec } from '#ast/attributes/attributes.ts';
import { newWork } from '#ast/basics/work.ts';
import { pipedAttributes } from '#ast/form/piping.ts';
import { compilePattern } from '#ast/rules/pattern.ts';
import { patternProblem } from '#ast/rules/pattern-problem.ts';
import { readOptions } from '../../conditions/condition-tree.ts';
import { MomentInput } from '../../conditions/value-field.tsx';
import { Switch } from '../../design/checkbox.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { NumberInput } from '../../design/number-input.tsx';
import { Select } from '../../design/select.tsx';
import { tidyOption } from '../model/options-text.ts';
import { FormulaInput, InsertAnswer } from './formula-input.tsx';
import { FileTypesInput, IdInput } from './id-input.tsx';
import { ConditionField, JumpsField } from './logic.tsx';
import { OptionsEditor, ShownImage } from './options-editor.tsx';

type PatternProps = {
  readonly label: string;
  readonly value: unknown;
  readonly error: string | undefined;
  /** Undefined takes the pattern away. */
  readonly onChange: (pattern: string | undefined) => void;
};

/** A pattern, and a field to try answers in: by the very engine that checks them on the page and on the server. */
function PatternInput({ label, value, error, onChange }: PatternProps): ReactElement {
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

/** One attribute of the selected part, as it is now. */
type AttributeProps<Kind extends AttributeKind> = {
  readonly name: string;
  readonly spec: AttributeSpec<Kind>;
  readonly value: unknown;
  /** What is wrong with the value, in words. */
  readonly error: string | undefined;
  readonly isLocked: boolean;
  /** Of the options, those that visitors have been offered: what answers keep of them. */
  readonly published: ReadonlySet<string>;
  /** Undefined takes the attribute away. */
  readonly onChange: (value: unknown) => void;
};

/** One field for each kind of attribute: an attribute that the table gains has its field already. */
const fields: { readonly [Kind in AttributeKind]: (props: AttributeProps<Kind>) => ReactElement } = {
  id: ({ spec, value, error, isLocked, onChange }) => (
    <IdInput
      label={spec.title}
      value={textOf(value)}
      error={error}
      isLocked={isLocked}
      isNeeded={spec.required === true}
      onChange={onChange}
    />
  ),
  string: ({ name, spec, value, error, onChange }) => {
    const change = (text: string): void => onChange(text === '' && !spec.required ? undefined : text);
    const lines = linesOf[name];
    const Field = lines ? TextArea : TextField;
    const field = (
      <Field
        label={spec.title}
        description={notes[name]}
        value={textOf(value)}
        onChange={change}
        error={error}
        {...(lines && { rows: lines })}
      />
    );
    return pipedAttributes.some((each) => each === name) ? (
      <InsertAnswer isOfPart onInsert={(placeholder) => change(`${textOf(value)}${placeholder}`)}>
        {field}
      </InsertAnswer>
    ) : (
      field
    );
  },
  boolean: ({ name, spec, value, onChange }) => (
    <Switch
      isSelected={typeof value === 'boolean' ? value : spec.default}
      onChange={onChange}
      description={notes[name]}
    >
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
  options: ({ name, spec, value, published, error, onChange }) => (
    <OptionsEditor
      title={spec.title}
      noun={name === 'rows' ? 'row' : 'option'}
      value={readOptions(value).map(tidyOption)}
      published={published}
      maxItems={spec.maxItems}
      areChosen={spec.areChosen}
      arePictures={spec.arePictures === true}
      error={error}
      onChange={onChange}
    />
  ),
  'one-of': ({ name, spec, value, error, onChange }) => (
    <Select
      label={spec.title}
      {...(name === 'autocomplete' && { description: notes['autocomplete'] })}
      value={typeof value === 'string' && spec.values.includes(value) ? value : spec.default}
      choices={spec.values.map((id) => ({ id, label: choiceWords[id] ?? sayId(id) }))}
      onChange={onChange}
      error={error}
    />
  ),
  count: ({ name, spec, value, error, onChange }) => (
    <NumberInput
      label={spec.title}
      description={notes[name]}
      value={value}
      isWhole
      error={error}
      onChange={onChange}
    />
  ),
  bytes: ({ spec, value, error, onChange }) => (
    <NumberInput
      label={`${spec.title} in MB`}
      description={`Up to ${spec.max / megabyte}. Empty: as large as the service takes.`}
      value={typeof value === 'number' ? Math.round((value / megabyte) * 1000) / 1000 : value}
      isWhole={false}
      error={error && `Enter a size of up to ${spec.max / megabyte} MB.`}
      onChange={(size) => onChange(size === undefined ? undefined : Math.round(size * megabyte))}
    />
  ),
  number: ({ name, spec, value, error, onChange }) => (
    <NumberInput
      label={spec.title}
      description={notes[name]}
      value={value}
      isWhole={false}
      error={error}
      onChange={onChange}
    />
  ),
  moment: ({ spec, value, error, onChange }) => (
    <MomentInput label={spec.title} format={spec.format} value={value} error={error} onChange={onChange} />
  ),
  pattern: ({ spec, value, error, onChange }) => (
    <PatternInput label={spec.title} value={value} error={error} onChange={onChange} />
  ),
  'file-types': ({ spec, value, error, onChange }) => (
    <FileTypesInput label={spec.title} value={value} error={error} onChange={onChange} />
  ),
  image: ({ spec, value, error, onChange }) => (
    <ShownImage label={spec.title} value={value} error={error} onChange={onChange} />
  ),
  condition: ({ name, spec, value, error, onChange }) => (
    <ConditionField name={name} title={spec.title} value={value} error={error} onChange={onChange} />
  ),
  formula: ({ spec, value, error, onChange }) => (
    <FormulaInput label={spec.title} value={textOf(value)} error={error} onChange={onChange} />
  ),
  jumps: ({ spec, value, error, onChange }) => (
    <JumpsField title={spec.title} value={value} error={error} onChange={onChange} />
  ),
  // In no part of the panel (property-panel.tsx): the view of the languages has them for the whole form.
  languages: () => <></>,
  translations: () => <></>,
};

/** The texts that are more than a line, and how many lines of them are seen. */
const linesOf: Readonly<Record<string, number>> = {
  description: 2,
  help_text: 2,
  error_message: 2,
  text: 12,
  statement: 4,
};

/** What the title of an attribute does not say by itself. */
const notes: Readonly<Record<string, string>> = {
  error_message: 'Read below the label whenever an answer is not taken. Empty: our own words.',
  autocomplete: 'What the browser knows of the visitor. Nothing, where it is somebody else’s.',
  alt: 'Read to those who do not see it.',
  statement: 'Kept with each answer as it was read. Marks: **bold** and [link](https://…).',
  text: 'Marks: # heading, **bold**, *italic*, [link](https://…), and lists of lines with - or 1.',
  other: 'One free answer besides the options.',
  unique:
    'A second submission with the same answer is refused. Small letters, capitals and spaces make no difference.',
  prefix: 'Such as a currency: “€ ”.',
  suffix: 'Such as a unit: “ kg”.',
  hidden:
    'It is kept with the answers, and conditions may ask for it. Who reads the page’s source finds the formula.',
  decimals: 'The result is rounded to as many. Empty: as many as it has.',
  step: 'Answers are so far apart, counted from the least.',
};

/** A form keeps sizes in bytes. */
const megabyte = 1024 * 1024;

const choiceWords: Readonly<Record<string, string>> = {
  auto: 'As the question suggests',
  off: 'Nothing',
  stack: 'One below the other',
  row: 'Side by side',
  grid_2: 'Two columns',
  grid_3: 'Three columns',
  grid_4: 'Four columns',
};

/** What an attribute may be, where nobody wrote it down: `stars` becomes `Stars`. */
const sayId = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1).replaceAll('_', ' ');

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export function AttributeField<Kind extends AttributeKind>(props: AttributeProps<Kind>): ReactElement {
  const Field: (props: AttributeProps<Kind>) => ReactElement = fields[props.spec.kind];
  return <Field {...props} />;
}
