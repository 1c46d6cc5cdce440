import { type ReactElement, useState } from 'react';
import { formatFileSize } from '#ast/basics/format-size.ts';
import { getProperty, isRecord } from '#ast/basics/json.ts';
import { elementDefinitions } from '#ast/form/elements.ts';
import {
  acceptsOneOption,
  answerKindOf,
  type InputElement,
  inputAllowsOther,
  isDerived,
  isRequired,
  matrixRowsOf,
  optionsOf,
  takesSeveralInRow,
} from '#ast/form/tree.ts';
import type { AnswerKind } from '#ast/types/rules.ts';
import type { LinkedFile } from '#submissions/shapes.ts';
import { IconButton } from '../../../design/button.tsx';
import { CheckboxGroup, RadioGroup } from '../../../design/checkbox.tsx';
import { TextArea, TextField } from '../../../design/field.tsx';
import { Select } from '../../../design/select.tsx';

type Props = {
  input: InputElement;
  /** The stored value or the text being typed; undefined means no answer. */
  value: unknown;
  error: string | undefined;
  /** A note about the answer. */
  note?: string | undefined;
  onChange: (value: unknown) => void;
};

/** The field for each kind of answer. */
const fields: Readonly<Record<AnswerKind, (props: Props) => ReactElement>> = {
  text: TextAnswer,
  moment: TextAnswer,
  number: NumberField,
  choice: ChoiceField,
  choices: ChoicesField,
  boolean: YesNoField,
  order: OrderField,
  grid: GridField,
  consent: ConsentField,
  files: FilesField,
};

/** Renders the control that fits the question. */
export function AnswerField(props: Props): ReactElement {
  if (isDerived(props.input)) return <Result {...props} />;
  const Field = acceptsOneOption(props.input) ? SingleField : fields[answerKindOf(props.input)];
  return <Field {...props} />;
}

/** A calculated value cannot be edited: it follows the answers when they are saved. */
function Result({ input, value }: Props): ReactElement {
  return (
    <TextField
      label={input.attrs.label}
      description="Calculated again when the answers are saved."
      value={asText(value)}
      isReadOnly
    />
  );
}

const asText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const labelOf = (input: InputElement): string =>
  isRequired(input) ? `${input.attrs.label} (required)` : input.attrs.label;

/** The props that every control receives. */
const common = ({ input, note, error }: Props) => ({ label: labelOf(input), description: note, error });

function TextAnswer(props: Props): ReactElement {
  const { control } = elementDefinitions[props.input.type];
  const given = { ...common(props), value: asText(props.value), onChange: props.onChange };
  return control === 'textarea' ? <TextArea {...given} /> : <TextField {...given} type={control} />;
}

/** Keeps the typed text until the number is saved. */
function NumberField(props: Props): ReactElement {
  return (
    <TextField {...common(props)} inputMode="decimal" value={asText(props.value)} onChange={props.onChange} />
  );
}

const none = 'none';
const other = 'other';

/** Options are selected by position, because any text can be an option. */
function ChoiceField(props: Props): ReactElement {
  const { input, value, onChange } = props;
  const options = optionsOf(input).map(({ id }) => id);
  const text = asText(value);
  const at = options.indexOf(text);
  const [isOwn, setOwn] = useOtherChoice(text !== '' && at < 0);
  return (
    <>
      <Select
        {...common(props)}
        choices={[{ id: none, label: 'No answer' }, ...choicesOf(input, inputAllowsOther(input) || isOwn)]}
        value={isOwn ? other : at < 0 ? none : String(at)}
        onChange={(id) => {
          setOwn(id === other);
          onChange(id === none ? undefined : id === other ? '' : options[Number(id)]);
        }}
      />
      {isOwn && <OtherAnswer input={input} value={text} onChange={onChange} />}
    </>
  );
}

/** A choice of one option, stored as a list of one. */
function SingleField(props: Props): ReactElement {
  const { input, value, onChange } = props;
  const options = optionsOf(input).map(({ id }) => id);
  const at = options.indexOf(asText(Array.isArray(value) ? value[0] : undefined));
  return (
    <RadioGroup
      {...common(props)}
      choices={[...choicesOf(input, false), { id: none, label: 'No answer' }]}
      value={at < 0 ? none : String(at)}
      onChange={(chosen) => onChange(chosen === none ? undefined : [options[Number(chosen)]])}
    />
  );
}

function ChoicesField(props: Props): ReactElement {
  const { input, value, onChange } = props;
  const options = optionsOf(input).map(({ id }) => id);
  const chosen = (Array.isArray(value) ? (value as readonly unknown[]) : []).map(asText);
  const own = chosen.filter((text) => !options.includes(text));
  const [isOwn, setOwn] = useOtherChoice(own.length > 0);
  return (
    <>
      <CheckboxGroup
        {...common(props)}
        choices={choicesOf(input, inputAllowsOther(input) || isOwn)}
        value={[
          ...options.flatMap((option, index) => (chosen.includes(option) ? [String(index)] : [])),
          ...(isOwn ? [other] : []),
        ]}
        onChange={(ids) => {
          setOwn(ids.includes(other));
          const ticked = options.filter((_, index) => ids.includes(String(index)));
          onChange(ids.includes(other) ? [...ticked, ...own] : ticked);
        }}
      />
      {isOwn && (
        <OtherAnswer
          input={input}
          value={own[0] ?? ''}
          onChange={(text) =>
            onChange([...options.filter((option) => chosen.includes(option)), ...(text === '' ? [] : [text])])
          }
        />
      )}
    </>
  );
}

/** A ranking as a list of positions. Choosing an option that has a position swaps the two. */
function OrderField(props: Props): ReactElement {
  const { input, value, error, note, onChange } = props;
  const options = optionsOf(input).map(({ id }) => id);
  const places = (Array.isArray(value) ? (value as readonly unknown[]) : []).map(asText);
  const put = (index: number, option: string | undefined): void => {
    const next = options.map((_, at) => places[at] ?? '');
    const other = next.indexOf(option ?? '');
    if (option !== undefined && other >= 0) next[other] = next[index]!;
    next[index] = option ?? '';
    onChange(next.some((text) => text !== '') ? next : undefined);
  };
  return (
    <div className="field" role="group" aria-label={labelOf(input)}>
      <span className="field-label">{labelOf(input)}</span>
      {note && <span className="field-description">{note}</span>}
      {options.map((_, index) => (
        <Select
          key={index}
          label={`Rank ${index + 1}`}
          choices={[{ id: none, label: 'Not ranked' }, ...choicesOf(input, false)]}
          value={options.includes(places[index] ?? '') ? String(options.indexOf(places[index]!)) : none}
          onChange={(id) => put(index, id === none ? undefined : options[Number(id)])}
        />
      ))}
      {error && <span className="field-error">{error}</span>}
    </div>
  );
}

/** Edits a matrix: one or several choices per row. */
function GridField({ input, value, error, note, onChange }: Props): ReactElement {
  const cells = isRecord(value) ? value : {};
  const ids = optionsOf(input).map(({ id }) => id);
  const choices = choicesOf(input, false);
  const put = (row: string, chosen: string | readonly string[] | undefined): void => {
    const others = Object.entries(cells).filter(([id]) => id !== row);
    const next = chosen === undefined || chosen.length === 0 ? others : [...others, [row, chosen]];
    onChange(next.length > 0 ? Object.fromEntries(next) : undefined);
  };
  return (
    <div className="field" role="group" aria-label={labelOf(input)}>
      <span className="field-label">{labelOf(input)}</span>
      {note && <span className="field-description">{note}</span>}
      {matrixRowsOf(input).map(({ id, label }) => {
        const chosen = [getProperty(cells, id)].flat().map((option) => ids.indexOf(asText(option)));
        const known = chosen.filter((index) => index >= 0).map(String);
        return takesSeveralInRow(input) ? (
          <CheckboxGroup
            key={id}
            label={label}
            choices={choices}
            value={known}
            onChange={(places) =>
              put(
                id,
                places.map((place) => ids[Number(place)]!),
              )
            }
          />
        ) : (
          <Select
            key={id}
            label={label}
            choices={[{ id: none, label: 'No answer' }, ...choices]}
            value={known[0] ?? none}
            onChange={(place) => put(id, place === none ? undefined : ids[Number(place)])}
          />
        );
      })}
      {error && <span className="field-error">{error}</span>}
    </div>
  );
}

/**
 * Whether the option for the visitor's own answer is selected. It stays selected while its text is empty or
 * equals another option.
 */
function useOtherChoice(isThere: boolean): [boolean, (isOwn: boolean) => void] {
  const [isChosen, setChosen] = useState(isThere);
  return [isThere || isChosen, setChosen];
}

const choicesOf = (input: InputElement, hasOther: boolean): { id: string; label: string }[] => [
  ...optionsOf(input).map(({ label }, index) => ({ id: String(index), label })),
  ...(hasOther ? [{ id: other, label: 'Other' }] : []),
];

type OtherAnswerProps = { input: InputElement; value: string; onChange: (text: string) => void };

function OtherAnswer({ input, value, onChange }: OtherAnswerProps): ReactElement {
  return <TextField label={`${input.attrs.label}: other answer`} value={value} onChange={onChange} />;
}

function YesNoField(props: Props): ReactElement {
  const { value, onChange } = props;
  const id = typeof value === 'boolean' ? (value ? 'yes' : 'no') : none;
  return (
    <RadioGroup
      {...common(props)}
      choices={[
        { id: 'yes', label: 'Yes' },
        { id: 'no', label: 'No' },
        { id: none, label: 'No answer' },
      ]}
      value={id}
      onChange={(chosen) => onChange(chosen === none ? undefined : chosen === 'yes')}
    />
  );
}

/** An earlier consent stays unchanged. Consent given here gets the current time. */
function ConsentField(props: Props): ReactElement {
  const { input, value, onChange } = props;
  const statement = 'statement' in input.attrs ? input.attrs.statement : '';
  return (
    <CheckboxGroup
      {...common(props)}
      choices={[{ id: 'yes', label: isRecord(value) ? asText(getProperty(value, 'text')) : statement }]}
      value={value === true || isRecord(value) ? ['yes'] : []}
      onChange={(ids) => onChange(ids.length > 0 || undefined)}
    />
  );
}

/** Files can be removed from a submission, but not added. */
function FilesField({ input, value, note, error, onChange }: Props): ReactElement {
  const files = Array.isArray(value) ? (value as readonly LinkedFile[]) : [];
  return (
    <div className="field" role="group" aria-label={labelOf(input)}>
      <span className="field-label">{labelOf(input)}</span>
      {note && <span className="field-description">{note}</span>}
      {files.length === 0 && <span className="soft small">No files.</span>}
      {files.map((file) => (
        <div key={file.id} className="file-line">
          <span>
            {file.filename} <span className="soft small">{formatFileSize(file.size)}</span>
          </span>
          <IconButton
            icon="remove"
            size="small"
            label={`Remove ${file.filename}`}
            onPress={() => onChange(files.filter((other) => other.id !== file.id))}
          />
        </div>
      ))}
      {error && <span className="field-error">{error}</span>}
    </div>
  );
}
