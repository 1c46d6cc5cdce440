import type { ReactElement, ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import type { IconName } from './icon.tsx';
import { Message } from './message.tsx';

/** A dialog of fields: Enter or its last button submits them, and what no field says stands below them. */
export function FormDialog({
  submitLabel,
  submitIcon,
  isDanger = false,
  isDisabled = false,
  isPending = false,
  error,
  onClose,
  children,
  ...dialog
}: {
  title: string;
  description?: ReactNode;
  size?: 'small' | 'medium';
  isOpen: boolean;
  onClose: () => void;
  onSubmit: () => void;
  submitLabel: string;
  submitIcon?: IconName;
  /** What it takes away does not come back by itself. */
  isDanger?: boolean;
  /** There is nothing to submit. */
  isDisabled?: boolean;
  isPending?: boolean;
  error?: string | undefined;
  children: ReactNode;
}): ReactElement {
  return (
    <Dialog
      {...dialog}
      isPending={isPending}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant={isDanger ? 'danger' : 'primary'}
            icon={submitIcon}
            isDisabled={isDisabled}
            isPending={isPending}
          >
            {submitLabel}
          </Button>
        </>
      }
    >
      {children}
      {error !== undefined && <Message tone="bad">{error}</Message>}
    </Dialog>
  );
}
