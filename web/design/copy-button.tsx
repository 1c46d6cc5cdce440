import './copy-button.css';
import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { Button, IconButton } from './button.tsx';

/** A button that copies a text and briefly confirms it. */
export function CopyButton({
  text,
  label = 'Copy',
  of,
  isIconOnly = false,
  variant = 'secondary',
  size = 'medium',
  autoFocus = false,
}: {
  text: string;
  label?: string;
  /** What is copied, for screen readers: "API key". Needed where it is not part of the label. */
  of?: string;
  /** For a text in a line: only the icon, with the label as its tooltip. */
  isIconOnly?: boolean;
  variant?: 'primary' | 'secondary' | 'quiet';
  size?: 'medium' | 'small';
  /** Whether copying is the main action of the screen. */
  autoFocus?: boolean;
}): ReactElement {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready');
  useEffect(() => {
    if (state === 'ready') return undefined;
    const timer = setTimeout(() => setState('ready'), 2_500);
    return () => clearTimeout(timer);
  }, [state]);
  const words = { ready: label, copied: 'Copied', refused: 'Select and copy' }[state];
  const icon = state === 'copied' ? 'check' : 'copy';
  const onPress = (): void => void copyText(text).then(setState);
  return (
    <>
      {isIconOnly ? (
        <IconButton icon={icon} label={words} size="small" onPress={onPress} />
      ) : (
        <Button variant={variant} size={size} autoFocus={autoFocus} icon={icon} onPress={onPress}>
          {words}
          {of !== undefined && <span className="unseen"> {of}</span>}
        </Button>
      )}
      <span className="unseen" role="status">
        {state === 'copied' ? 'Copied to the clipboard.' : ''}
      </span>
    </>
  );
}

/**
 * Copies a text. On pages without HTTPS, browsers provide no clipboard; the user can then select the text
 * manually.
 */
export async function copyText(text: string): Promise<'copied' | 'refused'> {
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch {
    return 'refused';
  }
}

/** Splits a text into spans of `size` characters. */
const inParts = (text: string, size: number, draw: (part: string) => ReactNode): ReactNode =>
  text.match(new RegExp(`.{1,${size}}`, 'g'))?.map((part, at) => (
    <span key={at} className="copy-part">
      {draw(part)}
    </span>
  ));

/** "Public link" as "public link", but "API key" and "URL" as they are. */
const inSentence = (label: string): string =>
  /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;

/** A secret, URL or command to copy: shown in full, selectable, with a copy button. */
export function CopyField({
  label,
  text,
  isMultiline = false,
  isGrouped = false,
}: {
  label: string;
  text: string;
  /** Whether long text wraps instead of scrolling. */
  isMultiline?: boolean;
  /**
   * Whether characters are shown in groups of four, four groups per line, so that they are easier to read and
   * type. The copied text has no spaces.
   */
  isGrouped?: boolean;
}): ReactElement {
  return (
    <div className="copy-field">
      <span className="field-label">{label}</span>
      <div className={`copy-box${isMultiline ? ' copy-box-tall' : ''}`}>
        {/* Focusable, so that long text can be scrolled with the keyboard. */}
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
        <CopyButton text={text} of={inSentence(label)} size="small" />
      </div>
    </div>
  );
}

/** A short ID or URL within other text, with an icon that copies it. */
export function CopyText({ label, text }: { label: string; text: string }): ReactElement {
  return (
    <span className="copy-inline">
      <code>{text}</code>
      <CopyButton text={text} label={`Copy ${label}`} isIconOnly />
    </span>
  );
}
