import './options-editor.css';
import { type ReactElement, useRef, useState } from 'react';
import { idOf, labelOf, type Option } from '#ast/answers/options.ts';
import { isSameJson } from '#ast/json.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { TextArea } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { OptionDetails } from './option-details.tsx';
import {
  blankOption,
  fromLines,
  nouns,
  pastedIn,
  pressedIn,
  readOptions,
  relabelled,
  sayPlace,
} from '../model/options-text.ts';
import { sayCount } from '#ast/say-count.ts';

type OptionsProps = {
  readonly title: string;
  /** What one of them is called. */
  readonly noun: keyof typeof nouns;
  readonly value: readonly Option[];
  /** What answers may keep of an option already. */
  readonly published: ReadonlySet<string>;
  readonly maxItems: number;
  readonly areChosen: boolean;
  readonly arePictures: boolean;
  readonly error: string | undefined;
  readonly onChange: (options: readonly Option[]) => void;
};

/** A text that is in a field and not in the option, which is `given` still. */
type Typed = { readonly index: number; readonly text: string; readonly given: Option };

/**
 * The options of a selection, or the rows of a matrix. Enter adds one below, Backspace in an empty one takes it away, Alt and an arrow moves it;
 * a list that is pasted becomes as many options as it has lines. What another option is called already stays in its
 * field and goes no further: conditions follow the text of an option, and would take that for the other one. An option
 * that visitors have been offered keeps its id under another label, and with it the answers that chose it.
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
  // Once the option behind the field is another one, what was typed is over.
  const held = typed && isSameJson(value[typed.index], typed.given) ? typed : undefined;
  const write = (index: number, text: string): void => {
    const others = value.toSpliced(index, 1);
    const isTaken = text !== '' && others.some((other) => labelOf(other) === text);
    setTyped(isTaken ? { index, text, given: value[index]! } : undefined);
    if (!isTaken) onChange(value.with(index, relabelled(value[index]!, text, others, published)));
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
    const next = pressedIn({ options: value, at: index }, event, { noun, text, maxItems });
    if (!next) return;
    event.preventDefault();
    if (next.options === value) focus(next.at);
    else put(next.options, next.at);
  };
  const paste = (event: React.ClipboardEvent<HTMLInputElement>, index: number): void => {
    const next = pastedIn({ options: value, at: index }, event.clipboardData.getData('text'), maxItems);
    if (!next) return;
    event.preventDefault();
    put(next.options, next.at);
  };
  return (
    <fieldset className="options">
      <legend className="field-label">{title}</legend>
      <ul role="list" ref={list}>
        {value.map((option, index) => (
          // The place is the identity: the text changes with every letter.
          <li key={index} className="options-row">
            <input
              className="field-input options-label"
              aria-label={`${nouns[noun]} ${index + 1} of ${value.length}`}
              placeholder={sayPlace(noun, index)}
              aria-invalid={held?.index === index || undefined}
              value={held?.index === index ? held.text : labelOf(option)}
              onChange={(event) => write(index, event.target.value)}
              onKeyDown={(event) => handleKey(event, index)}
              onPaste={(event) => paste(event, index)}
            />
            <IconButton
              icon="more"
              label={`More of ${noun} ${index + 1}`}
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
                isPublished={published.has(idOf(option))}
                areChosen={areChosen}
                arePictures={arePictures}
                onChange={(changed) => onChange(value.with(index, changed))}
              />
            )}
          </li>
        ))}
      </ul>
      {held && (
        <p className="field-error" role="alert">
          Another {noun} is called “{held.text}” already.
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
  const [text, setText] = useState(value.map(labelOf).join('\n'));
  const options = fromLines(readOptions(text), value);
  return (
    <FormDialog
      title={`${nouns[noun]}s from a list`}
      isOpen
      onClose={onClose}
      description={`One ${noun} a line. Bullets, numbers, blank lines and repetitions are left out.`}
      onSubmit={() => {
        onChange(options);
        onClose();
      }}
      submitLabel={`Use ${sayCount(options.length, noun)}`}
      isDisabled={options.length === 0}
    >
      <TextArea label={`${nouns[noun]}s, one a line`} rows={10} value={text} onChange={setText} autoFocus />
    </FormDialog>
  );
}
