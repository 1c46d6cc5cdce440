import { type ReactElement, useState } from 'react';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Message } from '../design/message.tsx';
import { useBuilder, useEditorState } from './editor/use-editor.ts';
import { compareDocuments, DifferenceList } from './publish/publish-dialog.tsx';
import type { Autosave, BuilderForm } from './saving/autosave.ts';
import { documentOf } from './saving/use-saving.ts';
import type { TakenOver } from './use-open-form.ts';

type LiveChangedProps = {
  readonly opened: BuilderForm;
  readonly autosave: Autosave;
  readonly onTakeOver: (live: TakenOver) => void;
  readonly onOpened: (opened: BuilderForm) => void;
};

/** The live form moved on beside the working copy, over the API or by a publication: both are there, the person decides. */
export function LiveChanged({
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
        title="The live form was changed beside this working copy"
        action={<Button onPress={() => setOpen(true)}>Compare</Button>}
      >
        {live.created_by ?? 'A program'} made version {live.version}. Your working copy does not have that
        change.
      </Message>
      <Dialog
        title="Live and working copy"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        size="medium"
        actions={
          <>
            <Button onPress={keep}>Keep the working copy</Button>
            <Button variant="primary" onPress={takeOver}>
              Take over the live form
            </Button>
          </>
        }
      >
        <h3>In the live form, compared with the working copy</h3>
        {differences && <DifferenceList differences={differences} none="Both are the same." />}
        <p className="soft">
          Taking it over replaces the working copy; undo brings it back. Keeping it means that publishing
          replaces the live form.
        </p>
      </Dialog>
    </div>
  );
}
