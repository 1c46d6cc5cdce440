/**
 * A way on from what was done, most often the way back (`Undo`). The toast goes when it has run; what it throws is said
 * beside, and where that may pass it can be pressed again.
 */
export type ToastAction = { readonly label: string; readonly run: () => Promise<unknown> };
export type Toast = {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
  readonly action?: ToastAction | undefined;
};

/** So many of either kind are shown: what leads on is not pushed out by what is only said. */
const most = 3;
/** Long enough to read a sentence; and to think again, and to reach its button. */
export const shownMs = { said: 6_000, leading: 20_000 } as const;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();
/** What will close each toast that goes away by itself, by its id; nothing yet while they are held. */
const timers = new Map<number, ReturnType<typeof setTimeout> | undefined>();
/** What keeps them all from going away; `hidden`: nobody sees the window. */
type Holder = 'pointer' | 'focus' | 'hidden';
const holders = new Set<Holder>();

/** Those that are shown, the oldest first: the same list until one comes or goes. */
export const listToasts = (): readonly Toast[] => toasts;

/** @returns what ends it. */
export function listenToToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Shows one more. A problem stays until it is closed. */
export function openToast(toast: Omit<Toast, 'id'>): void {
  lastId += 1;
  const opened = { ...toast, id: lastId };
  const alike = toasts.filter(({ action }) => !action === !toast.action);
  const pushedOut = alike.length < most ? undefined : alike[0];
  if (pushedOut) stayToast(pushedOut.id);
  change([...toasts.filter((other) => other !== pushedOut), opened]);
  closeLater(opened);
}

export function closeToast(id: number): void {
  stayToast(id);
  change(toasts.filter((toast) => toast.id !== id));
  // What is gone is neither pointed at nor in focus, and does not say so.
  holdToasts('focus', false);
  if (toasts.length === 0) holdToasts('pointer', false);
}

/** It does not go away by itself: its action is under way. */
export function stayToast(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
}

function closeLater({ id, tone, action }: Toast): void {
  stayToast(id);
  if (tone === 'bad') return;
  const delay = action ? shownMs.leading : shownMs.said;
  timers.set(id, holders.size > 0 ? undefined : setTimeout(() => closeToast(id), delay));
}

/** While anything holds them, none goes away (WCAG 2.2, 2.2.1); then each has its whole time again. */
export function holdToasts(holder: Holder, isHolding: boolean): void {
  if (isHolding === holders.has(holder)) return;
  if (isHolding) holders.add(holder);
  else holders.delete(holder);
  for (const toast of toasts) if (timers.has(toast.id)) closeLater(toast);
}
