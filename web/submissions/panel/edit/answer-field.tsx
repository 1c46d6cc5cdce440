import { type ReactElement, useState } from 'react';
import type { InputType } from '#ast/elements.ts';
import { type InputElement, isRequired, optionsOf, takesOther } from '#ast/tree.ts';
import type { LinkedFile } from '#submissions/shapes.ts';
import { CheckboxGroup, RadioGroup } from '../../../design/checkbox.tsx';
import { IconButton } from '../../../design/button.tsx';
import { TextArea, TextField } from '../../../design/field.tsx';
import { Select } from '../../../design/select.tsx';
import { saySize } from '../file-list.tsx';

type Props = {
  input: InputElement;
  /** As it is stored, or as it is being typed; undefined is no answer. */
  value: unknown;
  error: string | undefined;
  /** What should be known of the answer beside its question. */
  note?: string | undefined;
  onChange: (value: unknown) => void;
};

/** How each type of question is edited. A new element type is a line here. */
const fields: Readonly<Record<InputType, (props: Props) => ReactElement>> = {
  text: (props) => <LineField {...props} type="text" />,
  textarea: AreaField,
  email: (props) => <LineField {...props} type="email" />,
  phone: (props) => <LineField {...props} type="tel" />,
  url: (props) => <LineField {...props} type="url" />,
  number: NumberField,
  date: (props) => <LineField {...props} type="date" />,
  time: (props) => <LineField {...props} type="time" />,
  datetime: (props) => <LineField {...props} type="datetime-local" />,
  dropdown: ChoiceField,
  radio: ChoiceField,
  multiple_choice: ChoicesField,
  yes_no: YesNoField,
  file_upload: FilesField,
};

/** The right control for the answer to a question. */
export function AnswerField(props: Props): ReactElement {
  const Field = fields[props.input.type];
  return <Field {...props} />;
}

const asText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const labelOf = (input: InputElement): string =>
  isRequired(input) ? `${input.attrs.label} (required)` : input.attrs.label;

/** What every control is given. */
const common = ({ input, note, error }: Props) => ({ label: labelOf(input), description: note, error });

function LineField({ type, ...props }: Props & { type: string }): ReactElement {
  return <TextField {...common(props)} type={type} value={asText(props.value)} onChange={props.onChange} />;
}

function AreaField(props: Props): ReactElement {
  return <TextArea {...common(props)} value={asText(props.value)} onChange={props.onChange} />;
}

/** A number stays the text that is being typed until it is saved. */
function NumberField(props: Props): ReactElement {
  return (
    <TextField {...common(props)} inputMode="decimal" value={asText(props.value)} onChange={props.onChange} />
  );
}

const none = 'none';
const other = 'other';

/** Options are known by their place: any text may be one. */
function ChoiceField(props: Props): ReactElement {
  const { input, value, onChange } = props;
  const options = optionsOf(input);
  const text = asText(value);
  const at = options.indexOf(text);
  const [isOwn, setOwn] = useOwn(text !== '' && at < 0);
  return (
    <>
      <Select
        {...common(props)}
        choices={[{ id: none, label: 'No answer' }, ...choicesOf(options, takesOther(input) || isOwn)]}
        value={isOwn ? other : at < 0 ? none : String(at)}
        onChange={(id) => {
          setOwn(id === other);
          onChange(id === none ? undefined : id === other ? '' : options[Number(id)]);
        }}
      />
      {isOwn && <OwnAnswer input={input} value={text} onChange={onChange} />}
    </>
  );
}

function ChoicesField(props: Props): ReactElement {
  const { input, value, onChange } = props;
  const options = optionsOf(input);
  const chosen = (Array.isArray(value) ? (value as readonly unknown[]) : []).map(asText);
  const own = chosen.filter((text) => !options.includes(text));
  const [isOwn, setOwn] = useOwn(own.length > 0);
  return (
    <>
      <CheckboxGroup
        {...common(props)}
        choices={choicesOf(options, takesOther(input) || isOwn)}
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
        <OwnAnswer
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

/** Whether the answer is besides the options; so it stays while its text is empty, or passes that of an option. */
function useOwn(isThere: boolean): [boolean, (isOwn: boolean) => void] {
  const [isChosen, setChosen] = useState(isThere);
  return [isThere || isChosen, setChosen];
}

const choicesOf = (options: readonly string[], hasOther: boolean): { id: string; label: string }[] => [
  ...options.map((label, index) => ({ id: String(index), label })),
  ...(hasOther ? [{ id: other, label: 'Other' }] : []),
];

function OwnAnswer({
  input,
  value,
  onChange,
}: {
  input: InputElement;
  value: string;
  onChange: (text: string) => void;
}): ReactElement {
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

/** Files can be taken out of a submission, not put in. */
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
            {file.filename} <span className="soft small">{saySize(file.size)}</span>
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
