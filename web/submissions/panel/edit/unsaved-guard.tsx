import { useBlocker } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { ConfirmDialog } from '../../../design/dialog.tsx';

/**
 * Asks before an edit is left that was not saved: by another row, another screen, Back, or the window's end. While it is
 * being saved, too: that may fail.
 */
export function UnsavedGuard({
  isDirty,
  what = 'The answers that you changed are not saved.',
}: {
  isDirty: boolean;
  what?: string;
}): ReactElement | null {
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <ConfirmDialog
      title="Leave without saving?"
      isOpen
      onClose={blocker.reset}
      confirmLabel="Discard my edit"
      onConfirm={blocker.proceed}
    >
      <p>{what}</p>
    </ConfirmDialog>
  );
}
