import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useState } from 'react';
import { refreshChanged } from '../api/changes.ts';
import { ApiProblem, isStale, unlocatedProblem } from '../api/client.ts';
import { ConfirmDialog } from './dialog.tsx';
import { toastProblem } from './toast.tsx';
import { openToast, type ToastAction } from './toast-list.ts';

/** What a toast says, with an undo or another next step. */
type Done = string | { text: string; action?: ToastAction | undefined };

/** The dialog that asks before an action runs. */
type Confirm = {
  title: string;
  /** The verb on the button: "Delete form". */
  label: string;
  /** What will happen, in numbers where there are any. */
  text?: ReactNode;
  /** What has to be typed first. */
  typed?: string;
  isDanger?: boolean;
  /** Called when it is closed without the action. */
  onClose?: () => void;
};

type Resolvable<Value, Given extends readonly unknown[]> = Value | ((...given: Given) => Value);

export type ActionOptions<Reply, Asked> = {
  /** Calls the operations. */
  run: (asked: Asked) => Promise<Reply>;
  /** Undefined: it runs at once. */
  confirm?: Resolvable<Confirm | undefined, [asked: Asked]>;
  /** For an action without a dialog of its own: what is asked when somebody else changed the thing first. */
  again?: (asked: Asked) => { title: string; label: string };
  /** `toast`: there is no place on the screen for an error. */
  problem?: 'toast';
  /** Leaves the screen of a thing that is gone, before its queries are fetched again. */
  onLeave?: ((reply: Reply, asked: Asked) => unknown) | undefined;
  /** The toast, after the queries were fetched again. */
  done?: Resolvable<Done | undefined, [reply: Reply, asked: Asked]>;
  onDone?: ((reply: Reply, asked: Asked) => unknown) | undefined;
  onProblem?: (error: Error) => void;
  /** Actions of one scope run one after the other. */
  scope?: { id: string };
  meta?: Record<string, unknown>;
};

export type Action<Asked = void, Reply = unknown> = UseMutationResult<Reply, Error, Asked> & {
  /** Runs it, after the dialog if there is one. */
  start: (asked: Asked) => void;
  /** For its button. */
  press: (asked: Asked) => { isPending: boolean; onPress: () => void };
  /** To be drawn beside its button. */
  dialog: ReactElement | null;
  /** The error of one field. */
  of: (field: string) => string | undefined;
  /** The error that belongs to no field. */
  unlocated: string | undefined;
};

/**
 * One action of the console: asks before it if told to, calls its operations, fetches again what they changed (changes.ts),
 * says that it is done, and keeps its error for the place where it is shown. If somebody else changed the thing first (412),
 * nothing is done; the dialog says who it was and asks again.
 */
export function useAction<Reply, Asked = void>({
  run,
  confirm,
  again,
  problem,
  onLeave,
  done,
  onDone,
  onProblem,
  ...rest
}: ActionOptions<Reply, Asked>): Action<Asked, Reply> {
  const [asking, setAsking] = useState<{ asked: Asked }>();
  const mutation = useMutation<Reply, Error, Asked>({
    ...rest,
    mutationFn: run,
    async onSuccess(reply, asked) {
      await onLeave?.(reply, asked);
      await refreshChanged();
      setAsking(undefined);
      const said = typeof done === 'function' ? done(reply, asked) : done;
      if (said !== undefined)
        openToast({ tone: 'good', ...(typeof said === 'string' ? { text: said } : said) });
      await onDone?.(reply, asked);
    },
    onError(error) {
      void refreshChanged();
      const isShown = asking !== undefined || (again !== undefined && isStale(error));
      if (!isShown && (again || problem === 'toast')) toastProblem(error);
      onProblem?.(error);
    },
  });
  const { error, isPending, mutate, reset } = mutation;
  const confirmOf = (asked: Asked): Confirm | undefined =>
    typeof confirm === 'function' ? confirm(asked) : confirm;
  const start = (asked: Asked): void => {
    if (confirmOf(asked)) setAsking({ asked });
    else mutate(asked);
  };
  const draw = (asked: Asked, { label, text, onClose, ...dialog }: Confirm): ReactElement => (
    <ConfirmDialog
      {...dialog}
      isOpen
      confirmLabel={label}
      onConfirm={() => mutate(asked)}
      isPending={isPending}
      error={error}
      onClose={() => {
        setAsking(undefined);
        reset();
        onClose?.();
      }}
    >
      {text}
    </ConfirmDialog>
  );
  const asked = asking ? asking.asked : (mutation.variables as Asked);
  const question = asking
    ? confirmOf(asked)
    : again && isStale(error)
      ? { isDanger: false, ...again(asked) }
      : undefined;
  return {
    ...mutation,
    start,
    press: (pressed) => ({
      isPending: isPending && !asking && mutation.variables === pressed,
      onPress: () => start(pressed),
    }),
    dialog: question ? draw(asked, question) : null,
    of: (field) => (error instanceof ApiProblem ? error.of(field) : undefined),
    unlocated: unlocatedProblem(error),
  };
}
