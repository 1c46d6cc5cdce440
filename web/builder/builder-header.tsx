import { type ReactElement, useState } from 'react';
import { Button, IconButton } from '../design/button.tsx';
import { ConfirmDialog } from '../design/dialog.tsx';
import { Menu, type MenuAction } from '../design/menu.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
import { focusUnreadableInput } from '../design/unreadable-input.ts';
import { FormHeaderActions } from '../shell/form-header-actions.tsx';
import { useBuilder } from './editor/use-editor.ts';
import { SaveStateText } from './publish/save-state.tsx';
import type { BuilderApi, OpenedForm, SaveState } from './saving/autosave.ts';
import type { OpenForm } from './use-open-form.ts';

type HeaderProps = {
  readonly opened: OpenedForm;
  readonly api: BuilderApi;
  readonly saveState: SaveState;
  /** Whether the JSON view has edits that are not applied yet, and therefore not saved. */
  readonly isJsonOpen: boolean;
  readonly problemCount: number;
  /** Whether the live version matches the working copy, so that there is nothing to publish. */
  readonly isLive: boolean;
  readonly onPublish: () => void;
  readonly onConflict: () => void;
  readonly changeLive: OpenForm['changeLive'];
  readonly onShortcuts: () => void;
};

const done = {
  draft: 'The form is now a draft. Visitors see that it is closed.',
  archived: 'Form archived.',
} as const;

/** The right end of the form's header: the save state, and the actions that change who sees the form. */
export function BuilderHeader({
  opened,
  api,
  saveState,
  isJsonOpen,
  problemCount,
  isLive,
  onPublish,
  onConflict,
  changeLive,
  onShortcuts,
}: HeaderProps): ReactElement {
  const { isReadOnly } = useBuilder();
  const [pendingStatus, setPendingStatus] = useState<'draft' | 'archived' | undefined>();
  const { status } = opened.form;
  const change = async (next: 'draft' | 'archived'): Promise<void> => {
    const back = status === 'archived' ? 'restore' : 'unpublish';
    await changeLive((seen) => api.become(next === 'archived' ? 'archive' : back, seen));
    toastDone(done[next]);
  };
  const become = (next: 'draft' | 'archived'): void => {
    setPendingStatus(undefined);
    change(next).catch(toastProblem);
  };
  if (isReadOnly)
    return <FormHeaderActions>{<span className="soft small">View only</span>}</FormHeaderActions>;
  return (
    <FormHeaderActions>
      <SaveStateText state={saveState} isJsonOpen={isJsonOpen} />
      {saveState.kind === 'conflict' && (
        <Button size="small" onPress={onConflict}>
          Resolve
        </Button>
      )}
      <Menu
        items={[
          ...actionsFor(status, become, setPendingStatus, opened.form.public_url),
          { id: 'shortcuts', label: 'Keyboard shortcuts', icon: 'info', onAction: onShortcuts },
        ]}
      >
        <IconButton icon="more" label="More" />
      </Menu>
      {status === 'archived' ? (
        <Button variant="primary" onPress={() => become('draft')}>
          Restore
        </Button>
      ) : (
        // Highlighted only if there is something to publish.
        <Button
          {...(!isLive && { variant: 'primary', icon: problemCount > 0 ? 'warning' : 'send' })}
          onPress={() => focusUnreadableInput() || onPublish()}
        >
          Publish
        </Button>
      )}
      <ConfirmDialog
        title={pendingStatus === 'archived' ? 'Archive this form?' : 'Unpublish this form?'}
        isOpen={pendingStatus !== undefined}
        onClose={() => setPendingStatus(undefined)}
        confirmLabel={pendingStatus === 'archived' ? 'Archive' : 'Unpublish'}
        isDanger={false}
        onConfirm={() => pendingStatus && become(pendingStatus)}
      >
        Visitors will see that the form is closed. Its submissions are kept, and you can publish it again.
      </ConfirmDialog>
    </FormHeaderActions>
  );
}

function actionsFor(
  status: OpenedForm['form']['status'],
  become: (status: 'draft' | 'archived') => void,
  ask: (status: 'draft' | 'archived') => void,
  publicUrl: string,
): MenuAction[] {
  const open: MenuAction = {
    id: 'open',
    label: 'Open the public page',
    icon: 'external',
    onAction: () => void window.open(publicUrl, '_blank', 'noopener'),
  };
  if (status === 'published')
    return [
      open,
      { id: 'draft', label: 'Unpublish', icon: 'pause', onAction: () => ask('draft') },
      { id: 'archived', label: 'Archive', icon: 'archive', onAction: () => ask('archived') },
    ];
  if (status === 'draft')
    return [{ id: 'archived', label: 'Archive', icon: 'archive', onAction: () => ask('archived') }];
  return [{ id: 'draft', label: 'Restore', icon: 'undo', onAction: () => become('draft') }];
}
