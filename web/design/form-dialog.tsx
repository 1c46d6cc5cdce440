import type { ReactElement, ReactNode } from 'react';
import { isStale } from '../api/client.ts';
import type { Action } from './action.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import type { IconName } from './icon.tsx';
import { ChangedMeanwhile, Message } from './message.tsx';

/** A dialog of fields: Enter or its last button submits them, and an error that belongs to no field stands below them. */
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
  /** What it submits to. */
  action?: Pick<Action, 'error' | 'isPending' | 'unlocated'>;
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
      {isStale(action?.error) ? (
        <ChangedMeanwhile error={action.error} onDiscard={onClose} />
      ) : (
        error !== undefined && <Message tone="bad">{error}</Message>
      )}
    </Dialog>
  );
}
