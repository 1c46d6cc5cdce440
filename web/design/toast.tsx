import './toast.css';
import { useMutation } from '@tanstack/react-query';
import { type ReactElement, type ReactPortal, useEffect, useRef, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { refetchChangedQueries } from '../api/changes.ts';
import { canRetry } from '../api/query-client.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import {
  closeToast,
  keepToastOpen,
  listenToToasts,
  listToasts,
  openToast,
  pauseToasts,
  reopenToast,
  type Toast,
  type ToastAction,
} from './toast-list.ts';

/** Confirms an action, optionally with an Undo button or another next step. */
export const toastDone = (text: string, action?: ToastAction): void =>
  openToast({ tone: 'good', text, action });

/** Reports a failure for which there is no better place. */
export const toastProblem = (error: unknown): void =>
  openToast({ tone: 'bad', text: error instanceof Error ? error.message : 'Something went wrong.' });

/**
 * The region for all toasts, rendered once in the shell. It is always in the page, so that screen readers
 * monitor it. It is beside `#root`, because dialogs and panels are too, and would cover it there.
 */
export function ToastRegion(): ReactPortal {
  const shown = useSyncExternalStore(listenToToasts, listToasts);
  const region = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const look = (): void => pauseToasts('hidden', document.hidden);
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  // A focused toast that is removed fires no blur event.
  useEffect(() => pauseToasts('focus', region.current!.contains(document.activeElement)), [shown]);
  return createPortal(
    <div
      ref={region}
      className="toasts"
      role="status"
      aria-live="polite"
      // A status is atomic by default: a second toast would announce the first one again.
      aria-atomic="false"
      data-react-aria-top-layer="true"
      // Not onPointerEnter: a toast that opens under a resting pointer would never close.
      onPointerMove={() => pauseToasts('pointer', true)}
      onPointerLeave={() => pauseToasts('pointer', false)}
      onFocus={() => pauseToasts('focus', true)}
      onBlur={() => pauseToasts('focus', false)}
    >
      {shown.map((toast) => (
        <ToastLine key={toast.id} toast={toast} />
      ))}
    </div>,
    document.body,
  );
}

function ToastLine({ toast }: { toast: Toast }): ReactElement {
  const { id, tone, text, action } = toast;
  const act = useMutation({
    async mutationFn() {
      await action?.run();
      await refetchChangedQueries();
    },
    onMutate: () => keepToastOpen(id),
    onSettled(_, error) {
      // If the request did not arrive, the user can repeat it.
      if (error && canRetry(error)) reopenToast(toast);
      else closeToast(id);
      if (error) toastProblem(error);
    },
    ...(action?.scope !== undefined && { scope: { id: action.scope } }),
  });
  return (
    <div className={`toast toast-${tone}`} aria-busy={act.isPending}>
      <Icon name={tone === 'good' ? 'check' : 'error'} />
      <span className="toast-text">{text}</span>
      {action && (
        <button
          type="button"
          className="toast-action"
          aria-disabled={act.isPending}
          onClick={() => act.isPending || act.mutate()}
        >
          {action.label}
        </button>
      )}
      <IconButton icon="close" label="Dismiss" size="small" onPress={() => closeToast(id)} />
    </div>
  );
}
