import './save-state.css';
import type { ReactElement } from 'react';
import { Icon, type IconName } from './icon.tsx';

type Kind = 'saved' | 'saving' | 'warning' | 'error';

const icons = {
  saved: 'check',
  saving: 'refresh',
  warning: 'warning',
  error: 'error',
} as const satisfies Record<Kind, IconName>;

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
  kind: Kind;
  text: string;
  /** A more precise state, for tests. */
  state?: string;
  isAnnounced?: boolean;
  title?: string | undefined;
}): ReactElement {
  return (
    <span className={`save-state save-state-${kind}`} title={title}>
      {text !== '' && <Icon name={icons[kind]} />}
      <span data-save-state={state} aria-hidden={isAnnounced}>
        {text}
      </span>
      <span className="unseen" role="status">
        {isAnnounced ? text : ''}
      </span>
    </span>
  );
}
