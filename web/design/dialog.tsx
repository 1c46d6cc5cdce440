import './dialog.css';
import {
  type FocusEvent,
  type InputEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { isConcurrentChangeError } from '../api/client.ts';
import { Button, IconButton } from './button.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { ConcurrentChangeMessage, Message } from './message.tsx';
import { useSwipeAway } from './use-swipe-away.ts';
import { useNarrow } from './use-window.ts';

type DialogProps = {
  title: string;
  /** Default: true, for a dialog that is rendered while it is open. */
  isOpen?: boolean;
  /** Runs when the dialog is closed by Escape, the close button, a click outside, or a swipe on a phone. */
  onClose: () => void;
  /** Shown under the title. */
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons at the end of the dialog. Put the most likely one last. */
  actions?: ReactNode;
  /** The label of an additional last button that only closes the dialog. */
  done?: string;
  /** Makes the dialog a form: Enter submits, and a button in `actions` has type="submit". */
  onSubmit?: () => void;
  /** With `onSubmit`: the request of the last submit is still running. */
  isPending?: boolean;
  /** small 26rem, medium 36rem, large 56rem; side: a panel at the end of the window. */
  size?: 'small' | 'medium' | 'large' | 'side';
  /** If false, the dialog stays open until the person has decided. */
  isDismissable?: boolean;
  role?: 'dialog' | 'alertdialog';
  /** Whether closing loses no text, because the text is kept elsewhere or only filters a list. */
  keepsText?: boolean;
};

/** A modal dialog. The focus moves into it, stays in it, and returns when it closes. */
export function Dialog({
  title,
  isOpen = true,
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
  keepsText = role === 'alertdialog',
}: DialogProps): ReactElement {
  const text = useEnteredText(isOpen);
  const [isAsking, setAsking] = useState(false);
  const dismiss = (): void => (!keepsText && text.isEntered() ? setAsking(true) : onClose());
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
      onOpenChange={(open) => !open && dismiss()}
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!isDismissable}
    >
      <Sheet
        size={size}
        isSwiped={isDismissable}
        onClose={dismiss}
        onInput={text.note}
        onFocus={text.noteStart}
      >
        <AriaDialog className="dialog-frame" role={role}>
          <header className="dialog-header">
            <Heading slot="title" level={2} className="dialog-title">
              {title}
            </Heading>
            {isDismissable && <IconButton icon="close" label="Close" size="small" onPress={dismiss} />}
          </header>
          {onSubmit ? (
            <Form className="dialog-form" isPending={isPending} onSubmit={onSubmit}>
              {content}
            </Form>
          ) : (
            content
          )}
        </AriaDialog>
        {isAsking && (
          <ConfirmDialog
            title="Discard changes?"
            onClose={() => {
              setAsking(false);
              afterFocusReturned(text.focusLast);
            }}
            confirmLabel="Discard"
            onConfirm={() => {
              setAsking(false);
              onClose();
            }}
          >
            <p>You have unsaved changes.</p>
          </ConfirmDialog>
        )}
      </Sheet>
    </ModalOverlay>
  );
}

type TextControl = HTMLInputElement | HTMLTextAreaElement;

/** Whether the target is a control whose text would take effort to enter again. */
const isTextControl = (target: EventTarget): target is TextControl =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && ['text', 'email', 'url', 'tel', 'number'].includes(target.type));

/** Tracks which text controls of a dialog were changed, including controls that are no longer rendered. */
function useEnteredText(isOpen: boolean) {
  const last = useRef<TextControl>(undefined);
  const [{ start, entered }] = useState(() => ({
    start: new WeakMap<TextControl, string>(),
    entered: new Set<TextControl>(),
  }));
  useEffect(() => {
    if (!isOpen) entered.clear();
  }, [isOpen, entered]);
  return {
    noteStart: ({ target, currentTarget }: FocusEvent<HTMLElement>): void => {
      // Events of a nested dialog also arrive here through the React tree.
      if (!currentTarget.contains(target) || !isTextControl(target)) return;
      last.current = target;
      if (!start.has(target)) start.set(target, target.value);
    },
    note: ({ target, currentTarget }: InputEvent<HTMLElement>): void => {
      if (!(target instanceof Node && currentTarget.contains(target) && isTextControl(target))) return;
      if (target.value.trim() === (start.get(target) ?? '').trim()) entered.delete(target);
      else entered.add(target);
    },
    isEntered: (): boolean => entered.size > 0,
    /** Restores the focus after a click outside the dialog. */
    focusLast: (): void => last.current?.focus(),
  };
}

type SheetProps = Required<Pick<DialogProps, 'size' | 'children' | 'onClose'>> & {
  isSwiped: boolean;
  onInput: (event: InputEvent<HTMLElement>) => void;
  onFocus: (event: FocusEvent<HTMLElement>) => void;
};

/** The dialog's window. On a phone, a swipe down closes it. */
function Sheet({ size, isSwiped, children, onClose, onInput, onFocus }: SheetProps): ReactElement {
  const sheet = useRef<HTMLDivElement>(null);
  const isSheet = useNarrow() && isSwiped && size !== 'side';
  useSwipeAway(sheet, isSheet, onClose);
  return (
    <Modal ref={sheet} className={`dialog dialog-${size}${isSheet ? ' dialog-swiped' : ''}`}>
      <div className="dialog-sheet" onInput={onInput} onFocus={onFocus}>
        {children}
      </div>
    </Modal>
  );
}

type ConfirmProps = {
  title: string;
  isOpen?: boolean;
  onClose: () => void;
  /** The consequences, with numbers if known. */
  children?: ReactNode;
  /** The verb on the button: "Delete form". */
  confirmLabel: string;
  onConfirm: () => void;
  /** Text that the person must type first, for large changes that cannot be undone. */
  typed?: string;
  isDanger?: boolean;
  isPending?: boolean;
  error?: Error | null;
};

/** Asks for confirmation. */
export function ConfirmDialog({
  title,
  isOpen = true,
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
            autoFocus
          />
        )}
        {isConcurrentChangeError(error) ? (
          <ConcurrentChangeMessage error={error} />
        ) : (
          error && <Message tone="bad">{error.message}</Message>
        )}
      </div>
    </Dialog>
  );
}

/** Runs `act` after a closed overlay has returned the focus. This takes one frame. */
export function afterFocusReturned(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
