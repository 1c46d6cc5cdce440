import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useState } from 'react';
import { refetchChangedQueries } from '../api/changes.ts';
import { ApiProblem, errorMessageWithoutField, isConcurrentChangeError } from '../api/client.ts';
import { ConfirmDialog } from './dialog.tsx';
import { toastProblem } from './toast.tsx';
import { openToast, type ToastAction } from './toast-list.ts';

/** The text of a toast, optionally with an Undo button or another next step. */
type Done = string | { text: string; action?: ToastAction | undefined };

/** The dialog that asks before an action runs. */
type Confirm = {
  title: string;
  /** The verb on the button: "Delete form". */
  label: string;
  /** The consequences, with numbers if known. */
  text?: ReactNode;
  /** Text that the person must type first. */
  typed?: string;
  isDanger?: boolean;
  /** Runs if the dialog closes without running the action. */
  onClose?: () => void;
};

type Resolvable<Value, Given extends readonly unknown[]> = Value | ((...given: Given) => Value);

export type ActionOptions<Reply, Asked> = {
  run: (asked: Asked) => Promise<Reply>;
  /** If undefined, the action runs immediately. */
  confirm?: Resolvable<Confirm | undefined, [asked: Asked]>;
  /**
   * For an action without a confirmation dialog: the question to ask if another person changed the thing
   * first.
   */
  again?: (asked: Asked) => { title: string; label: string };
  /** `toast`: for screens that have no place for an error. */
  problem?: 'toast';
  /** Leaves the screen of a deleted thing before its queries are fetched again. */
  onLeave?: ((reply: Reply, asked: Asked) => unknown) | undefined;
  /** The toast to show after the queries were fetched again. */
  done?: Resolvable<Done | undefined, [reply: Reply, asked: Asked]>;
  onDone?: ((reply: Reply, asked: Asked) => unknown) | undefined;
  onProblem?: (error: Error) => void;
  /** Actions with the same scope run one after the other. */
  scope?: { id: string };
  meta?: Record<string, unknown>;
};

export type Action<Asked = void, Reply = unknown> = UseMutationResult<Reply, Error, Asked> & {
  /** Runs the action, after the user confirms it if it has a dialog. */
  start: (asked: Asked) => void;
  /** Props for the action's button. */
  press: (asked: Asked) => { isPending: boolean; onPress: () => void };
  /** The dialog to render next to the action's button. */
  dialog: ReactElement | null;
  of: (field: string) => string | undefined;
  /** The error that belongs to no field. */
  unlocated: string | undefined;
};

/**
 * Runs one action of the console: asks for confirmation, calls the operations, fetches changed queries again
 * (changes.ts), and shows a toast or an error. If another person changed the thing first (412), nothing is
 * changed; the dialog names that person and asks again.
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
      await refetchChangedQueries();
      setAsking(undefined);
      const said = typeof done === 'function' ? done(reply, asked) : done;
      if (said !== undefined)
        openToast({ tone: 'good', ...(typeof said === 'string' ? { text: said } : said) });
      await onDone?.(reply, asked);
    },
    onError(error) {
      void refetchChangedQueries();
      const isShown = asking !== undefined || (again !== undefined && isConcurrentChangeError(error));
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
    : again && isConcurrentChangeError(error)
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
    unlocated: errorMessageWithoutField(error),
  };
}
