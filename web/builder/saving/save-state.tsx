import './save-state.css';
import type { ReactElement } from 'react';
import { Icon, type IconName } from '../../design/icon.tsx';
import type { SaveState } from './autosave.ts';

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

const looks: Readonly<Record<SaveState['kind'], IconName>> = {
  saved: 'check',
  pending: 'refresh',
  saving: 'refresh',
  offline: 'warning',
  conflict: 'warning',
  refused: 'error',
};

/** Whether the work is safe, always in sight (docs/rules.md B4). Only what needs attention is announced. */
export function SaveStateText({
  state,
  isJsonOpen,
}: {
  state: SaveState;
  isJsonOpen: boolean;
}): ReactElement {
  const isUnapplied = isJsonOpen && state.kind === 'saved';
  const text = isUnapplied ? 'JSON not applied' : sayState(state);
  const needsCare =
    isUnapplied || state.kind === 'offline' || state.kind === 'conflict' || state.kind === 'refused';
  return (
    <span
      className={`save-state${needsCare ? ' save-state-care' : ''}`}
      title={'message' in state ? state.message : undefined}
    >
      <Icon name={isUnapplied ? 'warning' : looks[state.kind]} />
      <span data-save-state={isUnapplied ? 'unapplied' : state.kind}>{text}</span>
      <span className="unseen" role="status">
        {needsCare ? text : ''}
      </span>
    </span>
  );
}

function sayState(state: SaveState): string {
  if (state.kind === 'saved')
    return state.savedAt ? `Saved ${clock.format(new Date(state.savedAt))}` : 'No changes yet';
  return 'isKept' in state && !state.isKept ? unkept[state.kind] : words[state.kind];
}

const words: Readonly<Record<Exclude<SaveState['kind'], 'saved'>, string>> = {
  pending: 'Saving…',
  saving: 'Saving…',
  offline: 'Offline, kept in this browser',
  conflict: 'Conflict',
  refused: 'Not saved, kept in this browser',
};

/** The same where the browser has no room. */
const unkept = {
  offline: 'Offline: keep this window open',
  conflict: 'Conflict',
  refused: 'Not saved: keep this window open',
} as const;
