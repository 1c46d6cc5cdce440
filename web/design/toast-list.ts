/**
 * A way on from what was done, most often the way back (`Undo`). The toast goes when it has run; what it throws is said
 * beside, and where that may pass it can be pressed again.
 */
export type ToastAction = {
  readonly label: string;
  readonly run: () => Promise<unknown>;
  /** Takes turns with the changes that have the same one. */
  readonly scope?: string;
};

export type Toast = {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
  readonly action?: ToastAction | undefined;
};

/** So many of a kind are shown: what leads on, and a problem, is not pushed out by what is only said. */
const most = 3;

type Kind = 'problem' | 'leading' | 'said';

const kindOf = ({ tone, action }: Omit<Toast, 'id'>): Kind =>
  tone === 'bad' ? 'problem' : action ? 'leading' : 'said';

/** Long enough to read a sentence; and to think again, and to reach its button. */
export const shownMs = { said: 6_000, leading: 20_000 } as const;

let toasts: readonly Toast[] = [];

let lastId = 0;

const listeners = new Set<() => void>();

/** What will close each toast that goes away by itself, by its id; nothing yet while they are held. */
const timers = new Map<number, ReturnType<typeof setTimeout> | undefined>();

/** Those whose action is under way. */
const busy = new Set<number>();

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

/** Shows one more. A problem stays until it is closed, or three others came. */
export function openToast(toast: Omit<Toast, 'id'>): void {
  lastId += 1;
  const opened = { ...toast, id: lastId };
  // What is under way has its end to say, and is in nobody's place.
  const alike = toasts.filter(({ id, ...other }) => kindOf(other) === kindOf(toast) && !busy.has(id));
  const pushedOut = alike.length < most ? undefined : alike[0];
  if (pushedOut) forget(pushedOut.id);
  change([...toasts.filter((other) => other !== pushedOut), opened]);
  closeLater(opened);
}

export function closeToast(id: number): void {
  forget(id);
  change(toasts.filter((toast) => toast.id !== id));
  // What is gone is not pointed at, and does not say so.
  if (toasts.length === 0) holdToasts('pointer', false);
}

/** It does not go away by itself: its action is under way. */
export function stayToast(id: number): void {
  forget(id);
  busy.add(id);
}

/** Its action did not arrive, and can be run again: it is there as when it came, in its place if nobody closed it. */
export function renewToast(toast: Toast): void {
  if (!toasts.some(({ id }) => id === toast.id)) change([...toasts, toast]);
  closeLater(toast);
}

function forget(id: number): void {
  clearTimeout(timers.get(id));
  timers.delete(id);
  busy.delete(id);
}

function closeLater(toast: Toast): void {
  const { id } = toast;
  forget(id);
  const kind = kindOf(toast);
  if (kind === 'problem') return;
  timers.set(id, holders.size > 0 ? undefined : setTimeout(() => closeToast(id), shownMs[kind]));
}

/** While anything holds them, none goes away (WCAG 2.2, 2.2.1); then each has its whole time again. */
export function holdToasts(holder: Holder, isHolding: boolean): void {
  if (isHolding === holders.has(holder)) return;
  if (isHolding) holders.add(holder);
  else holders.delete(holder);
  for (const toast of toasts) if (timers.has(toast.id)) closeLater(toast);
}
