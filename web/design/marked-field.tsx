import './marked-field.css';
import { type KeyboardEvent, type ReactElement, useLayoutEffect, useRef, useState } from 'react';
import { Toolbar } from 'react-aria-components/Toolbar';
import { IconButton } from './button.tsx';
import { TextArea } from './field.tsx';
import { addLink, type SelectedText, toggleMark } from './marked-text.ts';

type MarkedFieldProps = {
  readonly label: string;
  readonly description?: string | undefined;
  readonly value: string;
  readonly rows: number;
  readonly error: string | undefined;
  readonly onChange: (text: string) => void;
};

/** The buttons and their keys (with Ctrl or Command). The finder has Ctrl+K. */
const tools = [
  { icon: 'bold', label: 'Bold', key: 'b', change: (given: SelectedText) => toggleMark(given, 'bold') },
  { icon: 'italic', label: 'Italic', key: 'i', change: (given: SelectedText) => toggleMark(given, 'italic') },
  { icon: 'link', label: 'Link', key: undefined, change: addLink },
] as const;

/** A text of several lines with bold, italics and links, which a toolbar and keys add. */
export function MarkedField({ label, value, onChange, ...rest }: MarkedFieldProps): ReactElement {
  const field = useRef<HTMLTextAreaElement>(null);
  const [wanted, setWanted] = useState<SelectedText>();
  // The selection is set after the new text is rendered.
  useLayoutEffect(() => {
    if (!wanted || !field.current) return;
    field.current.focus();
    field.current.setSelectionRange(wanted.start, wanted.end);
  }, [wanted]);
  const apply = (change: (given: SelectedText) => SelectedText): void => {
    const { selectionStart: start = value.length, selectionEnd: end = start } = field.current ?? {};
    const next = change({ text: value, start, end });
    onChange(next.text);
    setWanted(next);
  };
  const press = (event: KeyboardEvent): void => {
    const isPlain = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    const tool = tools.find(({ key }) => isPlain && key === event.key.toLowerCase());
    if (!tool) return;
    event.preventDefault();
    apply(tool.change);
  };
  return (
    <div>
      <TextArea
        {...rest}
        label={label}
        value={value}
        onChange={onChange}
        inputRef={field}
        onKeyDown={press}
      />
      <Toolbar aria-label="Formatting" className="marked-tools">
        {tools.map(({ icon, label: name, change }) => (
          <IconButton key={icon} icon={icon} label={name} size="small" onPress={() => apply(change)} />
        ))}
      </Toolbar>
    </div>
  );
}
