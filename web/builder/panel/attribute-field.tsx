import { type ReactElement, useMemo, useState } from 'react';
import type { AttributeKind, AttributeSpec } from '#ast/attributes/attributes.ts';
import { attributeDefaults } from '#ast/basics/defaults.ts';
import { createWorkBudget } from '#ast/basics/work.ts';
import { pipedAttributes } from '#ast/form/piping.ts';
import { compilePattern } from '#ast/rules/pattern.ts';
import { patternProblem } from '#ast/rules/pattern-problem.ts';
import { validOptionsOf } from '../../conditions/condition-tree.ts';
import { TimeLimitInput } from '../../conditions/value-field.tsx';
import { Switch } from '../../design/checkbox.tsx';
import { TextField } from '../../design/field.tsx';
import { MarkedField } from '../../design/marked-field.tsx';
import { NumberInput } from '../../design/number-input.tsx';
import { Select } from '../../design/select.tsx';
import { useLeft } from '../../design/use-left.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { pathToNode } from '../model/edit-node.ts';
import { shortenOption } from '../model/options-text.ts';
import { CorrectField } from './correct-field.tsx';
import { FormulaInput, InsertAnswerMenu, PipedReading } from './formula-input.tsx';
import { FileTypesInput, IdInput } from './id-input.tsx';
import { ConditionField } from './logic.tsx';
import { ElementImageField, OptionsEditor } from './options-editor.tsx';

type PatternProps = {
  readonly label: string;
  readonly value: unknown;
  readonly error: string | undefined;
  /** Undefined removes the pattern. */
  readonly onChange: (pattern: string | undefined) => void;
};

/**
 * A pattern field, with a field for trying answers. Uses the same regular expression engine as the page and
 * the server.
 */
function PatternInput({ label, value, error, onChange }: PatternProps): ReactElement {
  const source = typeof value === 'string' ? value : '';
  const [sample, setSample] = useState('');
  const left = useLeft(true);
  const problem = source === '' ? undefined : patternProblem(source);
  const matches = useMemo(
    () => source !== '' && !problem && compilePattern(source).matches(sample, createWorkBudget()),
    [source, problem, sample],
  );
  return (
    <div className="stack-tight">
      <TextField
        label={label}
        description="A regular expression for the whole answer, such as [A-Z]{2}\d{4}."
        value={source}
        onChange={(text) => {
          left.enter();
          onChange(text === '' ? undefined : text);
        }}
        onBlur={left.leave}
        error={!left.isLeft ? undefined : problem ? `The pattern ${problem}.` : error}
        className="pattern-source"
        spellCheck="false"
      />
      {source !== '' && !problem && (
        <>
          <TextField label="Test an answer" value={sample} onChange={setSample} />
          <p className="small" role="status" data-matches={sample === '' ? undefined : matches}>
            {sample === '' ? 'Enter an answer to test the pattern.' : describeMatch(matches)}
          </p>
        </>
      )}
    </div>
  );
}

const describeMatch = (matches: boolean): string =>
  matches ? '✓ This answer matches the pattern.' : '✗ This answer does not match the pattern.';

/** An attribute of the selected node, with its current value. */
type AttributeProps<Kind extends AttributeKind> = {
  readonly name: string;
  readonly spec: AttributeSpec<Kind>;
  readonly value: unknown;
  /** A message about what is wrong with the value. */
  readonly error: string | undefined;
  readonly isLocked: boolean;
  /** Ids of published options, which answers may contain. */
  readonly published: ReadonlySet<string>;
  /** Undefined removes the attribute. */
  readonly onChange: (value: unknown) => void;
};

/** The widths of an element in a grid, by the number of its columns. */
const spans: Readonly<Record<string, readonly string[]>> = {
  grid_2: ['Half width', 'Full width'],
  grid_3: ['One third', 'Two thirds', 'Full width'],
  grid_4: ['One quarter', 'Half width', 'Three quarters', 'Full width'],
};

type SpanProps = Pick<AttributeProps<'integer'>, 'value' | 'error' | 'onChange'> & { readonly title: string };

/** Chooses the columns of the grid that the selected element spans, as a width in words. */
function SpanField({ title, value, error, onChange }: SpanProps): ReactElement {
  const { root, selection } = useEditorState(useBuilder().editor).history.present;
  const words = spans[String(pathToNode(root, selection).at(-2)?.attrs['layout'])] ?? spans['grid_4']!;
  const span = typeof value === 'number' ? Math.min(value, words.length) : attributeDefaults.col_span;
  return (
    <Select
      label={title}
      value={String(span)}
      choices={words.map((label, index) => ({ id: String(index + 1), label }))}
      onChange={(text) => onChange(Number(text))}
      error={error}
    />
  );
}

/** Whole numbers of a longer range are entered instead of chosen. */
const mostListed = 20;

/** One field for each kind of attribute, so that a new attribute needs no new field. */
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
    const shared = {
      label: spec.title,
      description: notes[name],
      value: textOf(value),
      onChange: change,
      error,
    };
    const lines = linesOf[name];
    const input = lines ? <MarkedField {...shared} rows={lines} /> : <TextField {...shared} />;
    const field = (
      <div>
        {input}
        <PipedReading text={shared.value} />
      </div>
    );
    return pipedAttributes.some((each) => each === name) ? (
      <InsertAnswerMenu isOfPart onInsert={(placeholder) => change(`${textOf(value)}${placeholder}`)}>
        {field}
      </InsertAnswerMenu>
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
  integer: ({ name, spec, value, error, onChange }) =>
    name === 'col_span' ? (
      <SpanField title={spec.title} value={value} error={error} onChange={onChange} />
    ) : spec.max - spec.min > mostListed ? (
      <NumberInput
        label={spec.title}
        description={`${spec.min} to ${spec.max.toLocaleString()}. The default is ${spec.default.toLocaleString()}.`}
        value={value}
        isWhole
        error={error}
        onChange={onChange}
      />
    ) : (
      <Select
        label={spec.title}
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
      value={validOptionsOf(value).map(shortenOption)}
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
      description={notes[name]}
      value={typeof value === 'string' && spec.values.includes(value) ? value : spec.default}
      choices={spec.values.map((id) => ({ id, label: choiceWords[id] ?? formatId(id) }))}
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
      description={`Up to ${spec.max / megabyte}. Leave empty to allow the server’s maximum.`}
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
    <TimeLimitInput label={spec.title} format={spec.format} value={value} error={error} onChange={onChange} />
  ),
  pattern: ({ spec, value, error, onChange }) => (
    <PatternInput label={spec.title} value={value} error={error} onChange={onChange} />
  ),
  'file-types': ({ spec, value, error, onChange }) => (
    <FileTypesInput label={spec.title} value={value} error={error} onChange={onChange} />
  ),
  image: ({ spec, value, error, onChange }) => (
    <ElementImageField label={spec.title} value={value} error={error} onChange={onChange} />
  ),
  condition: ({ name, spec, value, error, onChange }) => (
    <ConditionField name={name} title={spec.title} value={value} error={error} onChange={onChange} />
  ),
  formula: ({ spec, value, error, onChange }) => (
    <FormulaInput label={spec.title} value={textOf(value)} error={error} onChange={onChange} />
  ),
  correct: ({ spec, value, error, onChange }) => (
    <CorrectField spec={spec} value={value} error={error} onChange={onChange} />
  ),
  // Shown by the panel itself, because a question has them too.
  jumps: () => <></>,
  // Not shown in the panel (property-panel.tsx), because they are edited for the whole form in the languages
  // view.
  languages: () => <></>,
  translations: () => <></>,
};

/** The visible lines of texts with bold, italics and links. */
const linesOf: Readonly<Record<string, number>> = {
  description: 2,
  help_text: 2,
  text: 12,
  statement: 4,
  explanation: 2,
};

/** Help texts for attributes whose title does not explain enough. */
const notes: Readonly<Record<string, string>> = {
  error_message: 'Shown if the answer is not valid. Leave empty for the default message.',
  autocomplete:
    'Lets browsers suggest the visitor’s own details. Choose “Nothing” for other people’s details.',
  alt: 'Describes the image for people who cannot see it.',
  statement: 'Saved with each answer as shown.',
  text: 'Lines that start with “#” are headings. Lines that start with “-” or “1.” are lists.',
  other: 'Lets visitors write their own answer.',
  shuffle: 'Shows each visitor a different order. Exports keep yours.',
  verify: 'Emails a six-digit code to the address, which the visitor must enter.',
  unique: 'Each answer can be submitted only once. Letter case and spaces are ignored.',
  prefix: 'For example, a currency: “€ ”.',
  suffix: 'For example, a unit: “ kg”.',
  hidden: 'Saved with the answers and available in conditions. The formula is visible in the page source.',
  decimals: 'Decimal places of the result. Leave empty for no rounding.',
  step: 'Allowed increments, starting from the minimum.',
  points: 'Points for the right answer. The default is 1.',
  explanation: 'Shown with the right answer, if the quiz result in the settings includes right answers.',
  counts: 'Set the right answer in the panel of each question.',
  pass_mark: 'The points that are needed to pass. Leave empty for none.',
};

/** Forms store sizes in bytes. */
const megabyte = 1024 * 1024;

const choiceWords: Readonly<Record<string, string>> = {
  auto: 'Automatic',
  off: 'Nothing',
  stack: 'Stacked',
  row: 'Side by side',
  grid_2: 'Two columns',
  grid_3: 'Three columns',
  grid_4: 'Four columns',
  form: 'Whole form',
  section: 'This group or step',
};

/** Formats a value that has no label in this table: `stars` becomes `Stars`. */
const formatId = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1).replaceAll('_', ' ');

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export function AttributeField<Kind extends AttributeKind>(props: AttributeProps<Kind>): ReactElement {
  const Field: (props: AttributeProps<Kind>) => ReactElement = fields[props.spec.kind];
  return <Field {...props} />;
}
