import './toast.css';
import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useEffect, useSyncExternalStore } from 'react';
import { mayPass } from '../api/query-client.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import {
  closeToast,
  holdToasts,
  listenToToasts,
  listToasts,
  openToast,
  stayToast,
  type Toast,
  type ToastAction,
} from './toast-list.ts';

/** Says that something was done, with a way on, or back, where there is one. */
export const toastDone = (text: string, action?: ToastAction): void =>
  openToast({ tone: 'good', text, action });

/** Says that something failed where there is no better place to say it. */
export const toastProblem = (error: unknown): void =>
  openToast({ tone: 'bad', text: error instanceof Error ? error.message : 'Something went wrong.' });

/** Where toasts appear: once, in the shell. Always in the page, so that screen readers listen to it. */
export function ToastRegion(): ReactElement {
  const shown = useSyncExternalStore(listenToToasts, listToasts);
  useEffect(() => {
    const look = (): void => holdToasts('hidden', document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return (
    <div
      className="toasts"
      role="status"
      aria-live="polite"
      data-react-aria-top-layer="true"
      onPointerEnter={() => holdToasts('pointer', true)}
      onPointerLeave={() => holdToasts('pointer', false)}
      onFocus={() => holdToasts('focus', true)}
      onBlur={() => holdToasts('focus', false)}
    >
      {shown.map((toast) => (
        <ToastLine key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function ToastLine({ toast }: { toast: Toast }): ReactElement {
  const { id, tone, text, action } = toast;
  const act = useMutation({
    mutationFn: async () => action?.run(),
    onMutate: () => stayToast(id),
    onSettled(_, error) {
      closeToast(id);
      if (!error) return;
      toastProblem(error);
      // What did not arrive can be pressed again.
      if (mayPass(error)) openToast(toast);
    },
  });
  return (
    <div className={`toast toast-${tone}`} aria-busy={act.isPending}>
      <Icon name={tone === 'good' ? 'check' : 'error'} />
      <span className="toast-text">{text}</span>
      {action && (
        <button type="button" className="toast-action" disabled={act.isPending} onClick={() => act.mutate()}>
          {action.label}
        </button>
      )}
      <IconButton icon="close" label="Dismiss" size="small" onPress={() => closeToast(id)} />
    </div>
  );
}
