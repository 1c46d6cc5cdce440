import './toast.css';
import { type ReactElement, useSyncExternalStore } from 'react';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';

type Toast = { id: number; tone: 'good' | 'bad'; text: string; action?: { label: string; run: () => void } };

/** Long enough to read a sentence and to reach its button; problems stay until they are closed. */
const shownMs = 6_000;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();
/** What will close each toast, by its id. */
const timers = new Map<number, ReturnType<typeof setTimeout>>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function close(id: number): void {
  timers.delete(id);
  change(toasts.filter((toast) => toast.id !== id));
}

function open(toast: Omit<Toast, 'id'>): void {
  lastId += 1;
  const id = lastId;
  change([...toasts.slice(-2), { ...toast, id }]);
  if (toast.tone === 'good') closeLater(id);
}

function closeLater(id: number): void {
  clearTimeout(timers.get(id));
  timers.set(
    id,
    setTimeout(() => close(id), shownMs),
  );
}

/** While somebody points at the toasts or is in them, none goes away (WCAG 2.2, 2.2.1). */
function hold(): void {
  for (const timer of timers.values()) clearTimeout(timer);
}

function release(): void {
  for (const { id, tone } of toasts) if (tone === 'good') closeLater(id);
}

/** Says that something was done, with a way back where there is one (`action`). */
export const toastDone = (text: string, action?: Toast['action']): void =>
  open({ tone: 'good', text, ...(action && { action }) });

/** Says that something failed where there is no better place to say it. */
export const toastProblem = (error: unknown): void =>
  open({ tone: 'bad', text: error instanceof Error ? error.message : 'Something went wrong.' });

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Where toasts appear: once, in the shell. Always in the page, so that screen readers listen to it. */
export function ToastRegion(): ReactElement {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div
      className="toasts"
      role="status"
      aria-live="polite"
      data-react-aria-top-layer="true"
      onPointerEnter={hold}
      onPointerLeave={release}
      onFocus={hold}
      onBlur={release}
    >
      {shown.map(({ id, tone, text, action }) => (
        <div key={id} className={`toast toast-${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'error'} />
          <span className="toast-text">{text}</span>
          {action && (
            <button
              type="button"
              className="toast-action"
              onClick={() => {
                action.run();
                close(id);
              }}
            >
              {action.label}
            </button>
          )}
          <IconButton icon="close" label="Dismiss" size="small" onPress={() => close(id)} />
        </div>
      ))}
    </div>
  );
}
