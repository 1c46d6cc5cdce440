import './message.css';
import type { ReactElement, ReactNode } from 'react';
import type { ApiProblem } from '../api/client.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import { formatDateTime } from './time.tsx';

const icons = { info: 'info', good: 'check', warn: 'warning', bad: 'error' } as const satisfies Record<
  string,
  IconName
>;
export type Tone = keyof typeof icons;

/** An error that appears only after saving. It scrolls into view, because it may be out of sight. */
export const SaveErrorMessage = ({ children }: { children: ReactNode }): ReactElement => (
  <div ref={show} className="late-problem">
    <Message tone="bad">{children}</Message>
  </div>
);

const show = (problem: HTMLElement | null): void => problem?.scrollIntoView({ block: 'nearest' });

/** A note within a page or a dialog. A note with the tone `bad` is announced when it appears. */
export function Message({
  tone = 'info',
  title,
  children,
  action,
}: {
  tone?: Tone;
  title?: string;
  children?: ReactNode;
  action?: ReactNode;
}): ReactElement {
  return (
    <div className={`message message-${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={icons[tone]} />
      <div className="message-text">
        {title && <p className="message-title">{title}</p>}
        {children && <div>{children}</div>}
      </div>
      {action}
    </div>
  );
}

/**
 * Explains that another person changed the thing first, with their name and changes if known.
 * @param onDiscard discards the edit; its text stays until then.
 */
export function ConcurrentChangeMessage({
  error: { meanwhile },
  onDiscard,
}: {
  error: ApiProblem;
  onDiscard?: () => void;
}): ReactElement {
  const { thing = 'thing', by = 'Someone else', at, differences = [] } = meanwhile ?? {};
  return (
    <Message
      tone="bad"
      title={`${by} changed this ${thing}`}
      action={
        onDiscard && (
          <Button size="small" onPress={onDiscard}>
            Discard changes
          </Button>
        )
      }
    >
      {differences.length > 0 && (
        <ul>
          {differences.map(({ name, before, now }) => (
            <li key={name}>
              {name}: {before} → <strong>{now}</strong>
            </li>
          ))}
        </ul>
      )}
      {at !== undefined && `Changed on ${formatDateTime(at)}. `}
      {onDiscard
        ? 'It changed while you were editing, so nothing was saved. Copy what you need, then discard your changes to see the new version.'
        : 'Nothing was done. Review the changes, then try again.'}
    </Message>
  );
}

type SaveKind = 'saved' | 'saving' | 'warning' | 'error';

const saveIcons = {
  saved: 'check',
  saving: 'refresh',
  warning: 'warning',
  error: 'error',
} as const satisfies Record<SaveKind, IconName>;

/**
 * Shows whether changes are saved: "Saved", "Saving…", or why they are not. Render it before there is a text:
 * screen readers announce only the changes of a region that they know.
 */
export function SaveState({
  kind,
  text,
  state = kind,
  isAnnounced = true,
  title,
}: {
  kind: SaveKind;
  text: string;
  /** A more precise state, for tests. */
  state?: string;
  isAnnounced?: boolean;
  title?: string | undefined;
}): ReactElement {
  return (
    <span className={`save-state save-state-${kind}`} title={title}>
      {text !== '' && <Icon name={saveIcons[kind]} />}
      <span data-save-state={state} aria-hidden={isAnnounced}>
        {text}
      </span>
      <span className="unseen" role="status">
        {isAnnounced ? text : ''}
      </span>
    </span>
  );
}
