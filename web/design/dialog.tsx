import './dialog.css';
import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useRef, useState } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { isStale } from '../api/client.ts';
import { Button, IconButton } from './button.tsx';
import { ChangedMeanwhile } from './changed-meanwhile.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Message } from './message.tsx';
import { useSwipeAway } from './use-swipe-away.ts';
import { useNarrow } from './use-window.ts';

type DialogProps = {
  title: string;
  isOpen: boolean;
  /** Called when it is closed by Escape, by its cross, by a click beside it, or on a phone by a swipe. */
  onClose: () => void;
  /** A sentence under the title. */
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons at the end, the most likely one last. */
  actions?: ReactNode;
  /** What the last button says, where all that it does is to close the dialog. */
  done?: string;
  /** With it, the dialog is a form: Enter submits, and a button in `actions` has type="submit". */
  onSubmit?: () => void;
  /** With `onSubmit`: the request of the last submit is still running. */
  isPending?: boolean;
  /** small 26rem, medium 36rem, large 56rem; side: a panel along the end of the window. */
  size?: 'small' | 'medium' | 'large' | 'side';
  /** Keeps it open until a decision was made. */
  isDismissable?: boolean;
  role?: 'dialog' | 'alertdialog';
};

/** A window over the page. Focus moves in, stays in, and comes back to where it was. */
export function Dialog({
  title,
  isOpen,
  onClose,
  description,
  children,
  actions,
  done,
  onSubmit,
  isPending = false,
  size = 'small',
  isDismissable = true,
  role = 'dialog',
}: DialogProps): ReactElement {
  const content = (
    <>
      {(description || children) && (
        <div className="dialog-body">
          {description && <div className="dialog-description">{description}</div>}
          {children}
        </div>
      )}
      {(actions || done) && (
        <div className="dialog-actions">
          {actions}
          {done && (
            <Button variant="primary" onPress={onClose}>
              {done}
            </Button>
          )}
        </div>
      )}
    </>
  );
  return (
    <ModalOverlay
      className={`dialog-veil dialog-veil-${size}`}
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!isDismissable}
    >
      <Sheet size={size} isSwiped={isDismissable} onClose={onClose}>
        <AriaDialog className="dialog-frame" role={role}>
          <header className="dialog-header">
            <Heading slot="title" level={2} className="dialog-title">
              {title}
            </Heading>
            {isDismissable && <IconButton icon="close" label="Close" size="small" onPress={onClose} />}
          </header>
          {onSubmit ? (
            <Form className="dialog-form" isPending={isPending} onSubmit={onSubmit}>
              {content}
            </Form>
          ) : (
            content
          )}
        </AriaDialog>
      </Sheet>
    </ModalOverlay>
  );
}

type SheetProps = Required<Pick<DialogProps, 'size' | 'children' | 'onClose'>> & { isSwiped: boolean };

/** The window itself; on a phone it goes as it came, when it is swiped down. */
function Sheet({ size, isSwiped, children, onClose }: SheetProps): ReactElement {
  const sheet = useRef<HTMLDivElement>(null);
  const isSheet = useNarrow() && isSwiped && size !== 'side';
  useSwipeAway(sheet, isSheet, onClose);
  return (
    <Modal ref={sheet} className={`dialog dialog-${size}${isSheet ? ' dialog-swiped' : ''}`}>
      {children}
    </Modal>
  );
}

type ConfirmProps = {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** What will happen, in numbers where there are any. */
  children?: ReactNode;
  /** The verb on the button: "Delete form". */
  confirmLabel: string;
  onConfirm: () => void;
  /** What has to be typed first; for what cannot be undone and is large. */
  typed?: string;
  isDanger?: boolean;
  isPending?: boolean;
  error?: Error | null;
};

/** Asks before something is done. */
export function ConfirmDialog({
  title,
  isOpen,
  onClose,
  children,
  confirmLabel,
  onConfirm,
  typed,
  isDanger = true,
  isPending = false,
  error,
}: ConfirmProps): ReactElement {
  const [text, setText] = useState('');
  const isReady = typed === undefined || text.trim() === typed.trim();
  const close = (): void => {
    setText('');
    onClose();
  };
  return (
    <Dialog
      title={title}
      isOpen={isOpen}
      onClose={close}
      role="alertdialog"
      isPending={isPending}
      onSubmit={() => isReady && onConfirm()}
      actions={
        <>
          <Button onPress={close}>Cancel</Button>
          <Button
            type="submit"
            variant={isDanger ? 'danger' : 'primary'}
            isDisabled={!isReady}
            isPending={isPending}
          >
            {confirmLabel}
          </Button>
        </>
      }
    >
      <div className="stack">
        {children && <div>{children}</div>}
        {typed !== undefined && (
          <TextField
            label={
              <>
                Type <strong className="dialog-typed">{typed}</strong> to confirm
              </>
            }
            value={text}
            onChange={setText}
            autoComplete="off"
            autoFocus
          />
        )}
        {isStale(error) ? (
          <ChangedMeanwhile error={error} />
        ) : (
          error && <Message tone="bad">{error.message}</Message>
        )}
      </div>
    </Dialog>
  );
}

type ChangeProps = Omit<ConfirmProps, 'onConfirm' | 'isPending' | 'error'> & {
  change: UseMutationResult<unknown, Error, void>;
};

/** Asks before something is changed, and says what went wrong with it until it is closed. */
export function ConfirmChange({ change, onClose, ...dialog }: ChangeProps): ReactElement {
  const close = (): void => {
    change.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      {...dialog}
      onClose={close}
      onConfirm={() => change.mutate()}
      isPending={change.isPending}
      error={change.error}
    />
  );
}
