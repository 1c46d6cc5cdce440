/**
 * A next step after an action, usually `Undo`. The toast closes when the step has run. If it fails, an error
 * toast opens, and the step can be repeated if a retry can help.
 */
export type ToastAction = {
  readonly label: string;
  readonly run: () => Promise<unknown>;
  /** Changes with the same scope run one after the other. */
  readonly scope?: string;
};

export type Toast = {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
  readonly action?: ToastAction | undefined;
};

/** The most toasts of a kind. Confirmations do not push out problems or toasts with an action. */
const most = 3;

type Kind = 'problem' | 'leading' | 'said';

const kindOf = ({ tone, action }: Omit<Toast, 'id'>): Kind =>
  tone === 'bad' ? 'problem' : action ? 'leading' : 'said';

/**
 * How long toasts stay, in milliseconds: long enough to read a sentence, or to decide and reach the button.
 */
export const toastDurationsMs = { said: 6_000, leading: 20_000 } as const;

let toasts: readonly Toast[] = [];

let maximumId = 0;

const listeners = new Set<() => void>();

/** The timers of toasts that close automatically, by ID. Undefined while toasts are held open. */
const timers = new Map<number, ReturnType<typeof setTimeout> | undefined>();

/** Toasts whose action is running. */
const busy = new Set<number>();

/** What keeps all toasts open; `hidden`: the window is not visible. */
type Holder = 'pointer' | 'focus' | 'hidden';

const holders = new Set<Holder>();

/** Returns the visible toasts, oldest first. The array is the same until a toast opens or closes. */
export const listToasts = (): readonly Toast[] => toasts;

/** @returns a function that removes the listener. */
export function listenToToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Opens a toast. A problem stays until the user closes it or three newer ones have opened. */
export function openToast(toast: Omit<Toast, 'id'>): void {
  maximumId += 1;
  const opened = { ...toast, id: maximumId };
  // A toast with a running action must still report its result, so it does not count.
  const alike = toasts.filter(({ id, ...other }) => kindOf(other) === kindOf(toast) && !busy.has(id));
  const pushedOut = alike.length < most ? undefined : alike[0];
  if (pushedOut) clearToastTimer(pushedOut.id);
  change([...toasts.filter((other) => other !== pushedOut), opened]);
  closeLater(opened);
}

export function closeToast(id: number): void {
  clearToastTimer(id);
  change(toasts.filter((toast) => toast.id !== id));
  // A removed toast fires no pointerleave event.
  if (toasts.length === 0) pauseToasts('pointer', false);
}

/** Keeps a toast open while its action is running. */
export function keepToastOpen(id: number): void {
  clearToastTimer(id);
  busy.add(id);
}

/** Restores a toast whose action failed and can be retried. It keeps its position if it is still open. */
export function reopenToast(toast: Toast): void {
  if (!toasts.some(({ id }) => id === toast.id)) change([...toasts, toast]);
  closeLater(toast);
}

function clearToastTimer(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
  busy.delete(id);
}

function closeLater(toast: Toast): void {
  const { id } = toast;
  clearToastTimer(id);
  const kind = kindOf(toast);
  if (kind === 'problem') return;
  timers.set(id, holders.size > 0 ? undefined : setTimeout(() => closeToast(id), toastDurationsMs[kind]));
}

/**
 * While anything holds toasts open, none of them closes (WCAG 2.2, 2.2.1). Afterwards, each stays for its
 * full time again.
 */
export function pauseToasts(holder: Holder, isHolding: boolean): void {
  if (isHolding === holders.has(holder)) return;
  if (isHolding) holders.add(holder);
  else holders.delete(holder);
  for (const toast of toasts) if (timers.has(toast.id)) closeLater(toast);
}
