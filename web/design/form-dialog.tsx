import type { ReactElement, ReactNode } from 'react';
import { isConcurrentChangeError } from '../api/client.ts';
import type { Action } from './action.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import type { IconName } from './icon.tsx';
import { ConcurrentChangeMessage, Message } from './message.tsx';

/**
 * A dialog with fields. Enter or the last button submits it. An error that belongs to no field is shown below
 * the fields.
 */
export function FormDialog({
  action,
  submitLabel,
  submitIcon,
  isDanger = false,
  isDisabled = false,
  isPending = action?.isPending ?? false,
  error = action?.unlocated,
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
  /** The action that the dialog submits to. */
  action?: Pick<Action, 'error' | 'isPending' | 'unlocated'>;
  submitLabel: string;
  submitIcon?: IconName;
  /** Whether the action removes something permanently. */
  isDanger?: boolean;
  /** Whether there is nothing to submit. */
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
      {isConcurrentChangeError(action?.error) ? (
        <ConcurrentChangeMessage error={action.error} onDiscard={onClose} />
      ) : (
        error !== undefined && <Message tone="bad">{error}</Message>
      )}
    </Dialog>
  );
}
