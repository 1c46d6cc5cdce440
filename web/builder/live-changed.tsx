import { type ReactElement, useState } from 'react';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Message } from '../design/message.tsx';
import { useBuilder, useEditorState } from './editor/use-editor.ts';
import { compareDocuments, DifferenceList } from './publish/publish-dialog.tsx';
import type { Autosave, OpenedForm } from './saving/autosave.ts';
import { documentOf } from './saving/use-saving.ts';
import type { ReplacementDocument } from './use-open-form.ts';

type LiveChangedProps = {
  readonly opened: OpenedForm;
  readonly autosave: Autosave;
  readonly onTakeOver: (live: ReplacementDocument) => void;
  readonly onOpened: (opened: OpenedForm) => void;
};

/**
 * Shown if the live form was changed through the API or published after the working copy began. The user
 * chooses which one to keep.
 */
export function LiveChangedNotice({
  opened,
  autosave,
  onTakeOver,
  onOpened,
}: LiveChangedProps): ReactElement | null {
  const { editor } = useBuilder();
  const { present } = useEditorState(editor).history;
  const [isOpen, setOpen] = useState(false);
  const { live, draft } = opened;
  if (draft.base_version >= live.version) return null;
  const settle = (): void => {
    setOpen(false);
    autosave.rebase({ etag: autosave.etag(), baseVersion: live.version });
    onOpened({ ...opened, draft: { ...draft, base_version: live.version } });
  };
  const keep = (): void => {
    settle();
    autosave.change(documentOf(present));
  };
  const takeOver = (): void => {
    settle();
    onTakeOver(live);
  };
  const differences = compareDocuments(live, present, 'edited');
  return (
    <div className="builder-note">
      <Message
        tone="warn"
        title="The live form changed while you were editing"
        action={<Button onPress={() => setOpen(true)}>Compare</Button>}
      >
        {live.created_by ?? 'An API client'} made version {live.version}. Your working copy does not have that
        change.
      </Message>
      <Dialog
        title="Live and working copy"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        size="medium"
        actions={
          <>
            <Button onPress={keep}>Keep working copy</Button>
            <Button variant="primary" onPress={takeOver}>
              Use live form
            </Button>
          </>
        }
      >
        <h3>Changes in the live form, compared with your working copy</h3>
        {differences && <DifferenceList differences={differences} none="There are no differences." />}
        <p className="soft">
          Using the live form replaces your working copy; you can undo this. If you keep the working copy,
          publishing it replaces the live form.
        </p>
      </Dialog>
    </div>
  );
}
