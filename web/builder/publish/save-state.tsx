import './save-state.css';
import { type ReactElement, useEffect, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Message, SaveState as SaveStateView } from '../../design/message.tsx';
import { Loading } from '../../design/states.tsx';
import { formatDateTime } from '../../design/time.tsx';
import type { EditSnapshot } from '../model/history.ts';
import type { BuilderApi, OpenedForm, SaveState } from '../saving/autosave.ts';
import { compareDocuments, DifferenceList } from './publish-dialog.tsx';

const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });

const kinds = {
  saved: 'saved',
  pending: 'saving',
  saving: 'saving',
  offline: 'warning',
  conflict: 'warning',
  refused: 'error',
} as const satisfies Record<SaveState['kind'], string>;

/** Always shows whether changes are saved (docs/rules.md B4). Announces only states that need attention. */
export function SaveStateText({
  state,
  isJsonOpen,
}: {
  state: SaveState;
  isJsonOpen: boolean;
}): ReactElement {
  const isUnapplied = isJsonOpen && state.kind === 'saved';
  const kind = isUnapplied ? 'warning' : kinds[state.kind];
  return (
    <SaveStateView
      kind={kind}
      state={isUnapplied ? 'unapplied' : state.kind}
      text={isUnapplied ? 'JSON not applied' : describeSaveState(state)}
      isAnnounced={kind === 'warning' || kind === 'error'}
      title={'message' in state ? state.message : undefined}
    />
  );
}

function describeSaveState(state: SaveState): string {
  if (state.kind === 'saved')
    return state.savedAt ? `Saved at ${clock.format(new Date(state.savedAt))}` : 'All changes saved';
  return 'isStored' in state && !state.isStored ? notStored[state.kind] : words[state.kind];
}

const words: Readonly<Record<Exclude<SaveState['kind'], 'saved'>, string>> = {
  pending: 'Saving…',
  saving: 'Saving…',
  offline: 'Offline, saved in this browser',
  conflict: 'Conflict',
  refused: 'Not saved, but kept in this browser',
};

/** Labels for when the browser had no space to keep the unsaved changes. */
const notStored = {
  offline: 'Offline: keep this window open',
  conflict: 'Conflict',
  refused: 'Not saved: keep this window open',
} as const;

/** A way to resolve a conflict. Until the user decides, both versions are kept. */
export type ConflictResolution = 'mine' | 'theirs' | 'copy';

type ConflictProps = {
  readonly api: BuilderApi;
  readonly mine: EditSnapshot;
  readonly onResolve: (resolution: ConflictResolution, theirs: OpenedForm) => Promise<void>;
  readonly onLater: () => void;
};

/**
 * Shown if someone else saved this form: who did and when, the differences, and the choices (docs/rules.md
 * B4).
 */
export function ConflictDialog({ api, mine, onResolve, onLater }: ConflictProps): ReactElement {
  const [theirs, setTheirs] = useState<OpenedForm | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const [running, setRunning] = useState<ConflictResolution | undefined>();
  useEffect(() => {
    const fail = (error: unknown): void =>
      setProblem(error instanceof Error ? error.message : 'Their version could not be loaded.');
    api.read().then(setTheirs, fail);
  }, [api]);

  const resolve = (resolution: ConflictResolution): void => {
    if (!theirs) return;
    setRunning(resolution);
    onResolve(resolution, theirs).catch((error: unknown) => {
      setRunning(undefined);
      setProblem(error instanceof Error ? error.message : 'This did not work. Try again.');
    });
  };
  const button = (resolution: ConflictResolution, label: string, isPrimary = false): ReactElement => (
    <Button
      variant={isPrimary ? 'primary' : 'secondary'}
      onPress={() => resolve(resolution)}
      isPending={running === resolution}
      isDisabled={!theirs || running !== undefined}
    >
      {label}
    </Button>
  );
  return (
    <Dialog
      title="This form was changed elsewhere"
      onClose={onLater}
      size="medium"
      role="alertdialog"
      actions={
        <>
          {button('copy', 'Save mine as a new form')}
          {button('theirs', 'Use theirs')}
          {button('mine', 'Keep mine', true)}
        </>
      }
    >
      {problem && <Message tone="bad">{problem}</Message>}
      {theirs ? <Comparison theirs={theirs} mine={mine} /> : !problem && <Loading lines={2} />}
    </Dialog>
  );
}

function Comparison({ theirs, mine }: { theirs: OpenedForm; mine: EditSnapshot }): ReactElement {
  const { saved_by, saved_at } = theirs.draft;
  const differences = compareDocuments(theirs.draft, mine);
  return (
    <>
      <p>
        <strong>{saved_by ?? 'Someone else'}</strong> saved it
        {saved_at ? ` on ${formatDateTime(saved_at)}` : ''}. Your changes are not lost: choose which version
        becomes the working copy. The live form does not change.
      </p>
      {differences ? (
        <>
          <h3>Your version, compared with theirs</h3>
          <DifferenceList differences={differences} none="There are no differences." />
        </>
      ) : (
        <Message tone="warn">Their version cannot be shown as a form, only as JSON.</Message>
      )}
    </>
  );
}
