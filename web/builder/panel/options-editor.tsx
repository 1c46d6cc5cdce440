import { type ReactElement, useRef, useState } from 'react';
import { isImageId } from '#ast/basics/image-id.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { type ChoiceOption, type Option, optionIdOf, optionLabelOf } from '#ast/basics/options.ts';
import { imageAddress } from '#page/theme/image-address.ts';
import { TextArea, TextField } from '../../design/field.tsx';
import { NumberInput } from '../../design/number-input.tsx';
import { useCurrentForm } from '../../shell/session.ts';
import { useBuilder } from '../editor/use-editor.ts';
import {
  blankOption,
  handleOptionKey,
  optionNouns,
  optionPlaceholder,
  optionsFromLines,
  pasteOptionList,
  relabelOption,
  shortenOption,
  splitOptionLines,
} from '../model/options-text.ts';
import { ImageField } from './image-field.tsx';
import { ConditionField } from './logic.tsx';
import './options-editor.css';
import { formatCount } from '#ast/basics/format-number.ts';
import { isSameJson } from '#ast/basics/json.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';

/** The image of an element or an option. It is stored in the workspace, like theme images. */
export function ElementImageField({
  label,
  value,
  error,
  onChange,
}: {
  readonly label: string;
  readonly value: unknown;
  readonly error: string | undefined;
  readonly onChange: (id: string | undefined) => void;
}): ReactElement {
  const { isReadOnly } = useBuilder();
  const { id, workspace_id: workspaceId } = useCurrentForm();
  return (
    <ImageField
      label={label}
      description="PNG, JPEG or WebP, up to 10 MB."
      workspaceId={workspaceId}
      address={isImageId(value) ? imageAddress(id, value) : undefined}
      error={error}
      isReadOnly={isReadOnly}
      onChange={onChange}
    />
  );
}

type DetailsProps = {
  readonly option: Option;
  /** The name of the option for screen readers, such as `option 2`. */
  readonly name: string;
  readonly others: readonly Option[];
  readonly isPublished: boolean;
  /** Whether visitors choose among the options. Each option can then have points and a quota. */
  readonly areChosen: boolean;
  /** Whether each option has an image above its label. */
  readonly arePictures: boolean;
  readonly onChange: (option: Option) => void;
};

/** The details of an option other than its label. */
function OptionDetails({
  option,
  name,
  others,
  isPublished,
  areChosen,
  arePictures,
  onChange,
}: DetailsProps): ReactElement {
  const whole: ChoiceOption =
    typeof option === 'string' ? { id: optionIdOf(option), label: optionLabelOf(option) } : option;
  const set = (detail: Partial<Record<'points' | 'capacity' | 'image' | 'show_when', unknown>>): void => {
    const entries = Object.entries({ ...whole, ...detail }).filter(([, value]) => value !== undefined);
    // The required properties cannot have been removed.
    onChange(shortenOption(Object.fromEntries(entries) as ChoiceOption));
  };
  return (
    <div className="option-details" role="group" aria-label={`Details of ${name}`}>
      {arePictures && (
        <ElementImageField
          label="Image"
          value={whole.image}
          error={undefined}
          onChange={(image) => set({ image })}
        />
      )}
      <OptionId
        option={whole}
        others={others}
        isPublished={isPublished}
        onChange={(id) => onChange(shortenOption({ ...whole, id }))}
      />
      {areChosen && (
        <div className="option-numbers">
          <NumberInput
            label="Quota"
            value={whole.capacity}
            isWhole
            error={undefined}
            onChange={(value) => set({ capacity: value })}
          />
          <NumberInput
            label="Points"
            value={whole.points}
            isWhole={false}
            error={undefined}
            onChange={(value) => set({ points: value })}
          />
        </div>
      )}
      {areChosen && (
        <p className="field-description">
          Quota: how many submissions can choose this option, up to {formLimits.capacity.toLocaleString()}.
          Points: the value of this option in a score.
        </p>
      )}
      {areChosen && (
        <ConditionField
          name="options"
          title="Show option if"
          value={whole.show_when}
          error={undefined}
          onChange={(condition) => set({ show_when: condition })}
        />
      )}
    </div>
  );
}

/** Edits the id of an option. An unused id applies when the field loses focus. Escape restores the old id. */
function OptionId({
  option,
  others,
  isPublished,
  onChange,
}: {
  option: ChoiceOption;
  others: readonly Option[];
  isPublished: boolean;
  onChange: (id: string) => void;
}): ReactElement {
  const [typed, setTyped] = useState<string | undefined>();
  const refusal = typed === undefined ? undefined : refuse(typed, others);
  const take = (): void => {
    if (typed !== undefined && typed !== option.id && !refusal) onChange(typed);
    setTyped(undefined);
  };
  return (
    <TextField
      label="Stored value"
      value={typed ?? option.id}
      onChange={setTyped}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take();
        if (event.key === 'Escape') setTyped(undefined);
      }}
      isReadOnly={isPublished}
      error={refusal}
      description={
        isPublished
          ? 'This cannot change after publishing, because answers contain it. You can still change the label.'
          : 'The value that answers contain. It stays unchanged if you edit the label.'
      }
      spellCheck="false"
    />
  );
}

function refuse(id: string, others: readonly Option[]): string | undefined {
  if (id.trim() === '') return 'Enter a value to store.';
  const other = others.find((option) => optionIdOf(option) === id);
  return other && `“${optionLabelOf(other)}” already uses this value.`;
}

type OptionsProps = {
  readonly title: string;
  /** The noun for an entry of the list. */
  readonly noun: keyof typeof optionNouns;
  readonly value: readonly Option[];
  /** Ids of options that answers may already contain. */
  readonly published: ReadonlySet<string>;
  readonly maxItems: number;
  readonly areChosen: boolean;
  readonly arePictures: boolean;
  readonly error: string | undefined;
  readonly onChange: (options: readonly Option[]) => void;
};

/** Text in the field that is not saved in the option, whose current value is `given`. */
type Typed = { readonly index: number; readonly text: string; readonly given: Option };

/**
 * Edits the options of a selection, or the rows of a matrix. Enter adds one below, Backspace removes an empty
 * one, and Alt+arrow moves one. A pasted list becomes one option per line. A duplicate label is not saved,
 * because conditions would confuse the two options; it only stays in the field. A published option keeps its
 * id when its label changes, and therefore its answers.
 */
export function OptionsEditor({
  title,
  noun,
  value,
  published,
  maxItems,
  areChosen,
  arePictures,
  error,
  onChange,
}: OptionsProps): ReactElement {
  const list = useRef<HTMLUListElement>(null);
  const [isPasting, setPasting] = useState(false);
  const [opened, setOpened] = useState<number | undefined>();
  const [typed, setTyped] = useState<Typed>();
  // Discards the typed text if the option has changed in the meantime.
  const duplicate = typed && isSameJson(value[typed.index], typed.given) ? typed : undefined;
  const write = (index: number, text: string): void => {
    const others = value.toSpliced(index, 1);
    const isTaken = text !== '' && others.some((other) => optionLabelOf(other) === text);
    setTyped(isTaken ? { index, text, given: value[index]! } : undefined);
    if (!isTaken) onChange(value.with(index, relabelOption(value[index]!, text, others, published)));
  };
  const focus = (index: number): void => {
    requestAnimationFrame(() =>
      list.current?.querySelectorAll<HTMLInputElement>('.options-label')[index]?.focus(),
    );
  };
  const put = (options: readonly Option[], index: number): void => {
    setOpened(undefined);
    onChange(options.slice(0, maxItems));
    focus(Math.max(0, Math.min(index, options.length - 1)));
  };
  const move = (index: number, by: -1 | 1): void => {
    const target = index + by;
    if (target < 0 || target >= value.length) return;
    put(value.toSpliced(index, 1).toSpliced(target, 0, value[index]!), target);
  };
  const handleKey = (event: React.KeyboardEvent<HTMLInputElement>, index: number): void => {
    if (event.nativeEvent.isComposing) return;
    const text = event.currentTarget.value;
    const next = handleOptionKey({ options: value, at: index }, event, { noun, text, maxItems });
    if (!next) return;
    event.preventDefault();
    if (next.options === value) focus(next.at);
    else put(next.options, next.at);
  };
  const paste = (event: React.ClipboardEvent<HTMLInputElement>, index: number): void => {
    const next = pasteOptionList(
      { options: value, at: index },
      event.clipboardData.getData('text'),
      maxItems,
    );
    if (!next) return;
    event.preventDefault();
    put(next.options, next.at);
  };
  return (
    <fieldset className="options">
      <legend className="field-label">{title}</legend>
      <ul role="list" ref={list}>
        {value.map((option, index) => (
          // Rows are keyed by index, because the text changes with every keystroke.
          <li key={index} className="options-row">
            <input
              className="field-input options-label"
              aria-label={`${optionNouns[noun]} ${index + 1} of ${value.length}`}
              placeholder={optionPlaceholder(noun, index)}
              aria-invalid={duplicate?.index === index || undefined}
              value={duplicate?.index === index ? duplicate.text : optionLabelOf(option)}
              onChange={(event) => write(index, event.target.value)}
              onKeyDown={(event) => handleKey(event, index)}
              onPaste={(event) => paste(event, index)}
            />
            <IconButton
              icon="more"
              label={`Details of ${noun} ${index + 1}`}
              size="small"
              aria-expanded={opened === index}
              onPress={() => setOpened(opened === index ? undefined : index)}
            />
            <IconButton
              icon="chevron-up"
              label={`Move ${noun} ${index + 1} up`}
              size="small"
              isDisabled={index === 0}
              onPress={() => move(index, -1)}
            />
            <IconButton
              icon="close"
              label={`Remove ${noun} ${index + 1}`}
              size="small"
              isDisabled={value.length === 1}
              onPress={() => put(value.toSpliced(index, 1), index)}
            />
            {opened === index && (
              <OptionDetails
                option={option}
                name={`${noun} ${index + 1}`}
                others={value.toSpliced(index, 1)}
                isPublished={published.has(optionIdOf(option))}
                areChosen={areChosen}
                arePictures={arePictures}
                onChange={(changed) => onChange(value.with(index, changed))}
              />
            )}
          </li>
        ))}
      </ul>
      {duplicate && (
        <p className="field-error" role="alert">
          Another {noun} is already called “{duplicate.text}”.
        </p>
      )}
      {error && <p className="field-error">{error}</p>}
      <div className="row">
        <Button
          size="small"
          icon="add"
          onPress={() => put([...value, blankOption(value, noun)], value.length)}
          isDisabled={value.length >= maxItems}
        >
          Add {noun}
        </Button>
        <Button size="small" variant="quiet" onPress={() => setPasting(true)}>
          Paste a list
        </Button>
      </div>
      {isPasting && (
        <PasteDialog noun={noun} value={value} onClose={() => setPasting(false)} onChange={onChange} />
      )}
    </fieldset>
  );
}

function PasteDialog({
  noun,
  value,
  onClose,
  onChange,
}: {
  noun: OptionsProps['noun'];
  value: readonly Option[];
  onClose: () => void;
  onChange: OptionsProps['onChange'];
}): ReactElement {
  const [text, setText] = useState(value.map(optionLabelOf).join('\n'));
  const options = optionsFromLines(splitOptionLines(text), value);
  return (
    <FormDialog
      title={`${optionNouns[noun]}s from a list`}
      onClose={onClose}
      description={`Replaces all ${noun}s. One ${noun} per line; bullets, numbers, blank lines and duplicates are removed.`}
      onSubmit={() => {
        onChange(options);
        onClose();
      }}
      submitLabel={`Replace with ${formatCount(options.length, noun)}`}
      isDisabled={options.length === 0}
    >
      <TextArea
        label={`${optionNouns[noun]}s, one per line`}
        rows={10}
        value={text}
        onChange={setText}
        autoFocus
      />
    </FormDialog>
  );
}
