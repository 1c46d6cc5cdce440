import './copy-button.css';
import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';

/** Puts a text on the clipboard, and says so for a while on itself. */
export function CopyButton({
  text,
  label = 'Copy',
  variant = 'secondary',
  size = 'medium',
  autoFocus = false,
}: {
  text: string;
  label?: string;
  variant?: 'primary' | 'secondary' | 'quiet';
  size?: 'medium' | 'small';
  /** It is what one is here for. */
  autoFocus?: boolean;
}): ReactElement {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready');
  useEffect(() => {
    if (state === 'ready') return undefined;
    const timer = setTimeout(() => setState('ready'), 2_500);
    return () => clearTimeout(timer);
  }, [state]);
  const words = { ready: label, copied: 'Copied', refused: 'Select and copy' }[state];
  return (
    <>
      <Button
        variant={variant}
        size={size}
        autoFocus={autoFocus}
        icon={state === 'copied' ? 'check' : 'copy'}
        onPress={() => void copyText(text).then(setState)}
      >
        {words}
      </Button>
      <span className="unseen" role="status">
        {state === 'copied' ? 'Copied to the clipboard.' : ''}
      </span>
    </>
  );
}

/** Browsers give pages without https no clipboard; the text is there to be selected then. */
export async function copyText(text: string): Promise<'copied' | 'refused'> {
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch {
    return 'refused';
  }
}

/** A text in spans of so many characters. */
const inParts = (text: string, size: number, draw: (part: string) => ReactNode): ReactNode =>
  text.match(new RegExp(`.{1,${size}}`, 'g'))?.map((part, at) => (
    <span key={at} className="copy-part">
      {draw(part)}
    </span>
  ));

/** A secret, address or command to be copied: in full, selectable, with its button. */
export function CopyField({
  label,
  text,
  isMultiline = false,
  isGrouped = false,
}: {
  label: string;
  text: string;
  /** All of it is seen, where a longer line than the box is scrolled else. */
  isMultiline?: boolean;
  /** Four characters stand together, and four times four in a line, as they are read and typed; what is copied has no spaces. */
  isGrouped?: boolean;
}): ReactElement {
  return (
    <div className="copy-field">
      <span className="field-label">{label}</span>
      <div className={`copy-box${isMultiline ? ' copy-box-tall' : ''}`}>
        {/* Focusable, because what is longer than the box is scrolled by keyboard. */}
        <code
          className="copy-text"
          tabIndex={0}
          role="textbox"
          aria-readonly="true"
          aria-multiline={isMultiline}
          aria-label={label}
        >
          {isGrouped ? inParts(text, 16, (line) => inParts(line, 4, (group) => group)) : text}
        </code>
        <CopyButton text={text} size="small" />
      </div>
    </div>
  );
}
