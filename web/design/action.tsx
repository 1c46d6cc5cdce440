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

export type ActionOptions<Reply, Input> = {
  run: (input: Input) => Promise<Reply>;
  /** If undefined, the action runs immediately. */
  confirm?: Resolvable<Confirm | undefined, [input: Input]>;
  /**
   * For an action without a confirmation dialog: the question to ask if another person changed the thing
   * first.
   */
  again?: (input: Input) => { title: string; label: string };
  /** `toast`: for screens that have no place for an error. */
  problem?: 'toast';
  /** Leaves the screen of a deleted thing before its queries are fetched again. */
  onLeave?: ((reply: Reply, input: Input) => unknown) | undefined;
  /** The toast to show after the queries were fetched again. */
  done?: Resolvable<Done | undefined, [reply: Reply, input: Input]>;
  onDone?: ((reply: Reply, input: Input) => unknown) | undefined;
  onProblem?: (error: Error) => void;
  /** Actions with the same scope run one after the other. */
  scope?: { id: string };
  meta?: Record<string, unknown>;
};

export type Action<Input = void, Reply = unknown> = UseMutationResult<Reply, Error, Input> & {
  /** Runs the action, after the user confirms it if it has a dialog. */
  start: (input: Input) => void;
  /** Props for the action's button. */
  press: (input: Input) => { isPending: boolean; onPress: () => void };
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
export function useAction<Reply, Input = void>({
  run,
  confirm,
  again,
  problem,
  onLeave,
  done,
  onDone,
  onProblem,
  ...rest
}: ActionOptions<Reply, Input>): Action<Input, Reply> {
  const [asking, setAsking] = useState<{ input: Input }>();
  const mutation = useMutation<Reply, Error, Input>({
    ...rest,
    mutationFn: run,
    async onSuccess(reply, input) {
      await onLeave?.(reply, input);
      await refetchChangedQueries();
      setAsking(undefined);
      const toast = typeof done === 'function' ? done(reply, input) : done;
      if (toast !== undefined)
        openToast({ tone: 'good', ...(typeof toast === 'string' ? { text: toast } : toast) });
      await onDone?.(reply, input);
    },
    onError(error) {
      void refetchChangedQueries();
      const isShown = asking !== undefined || (again !== undefined && isConcurrentChangeError(error));
      if (!isShown && (again || problem === 'toast')) toastProblem(error);
      onProblem?.(error);
    },
  });
  const { error, isPending, mutate, reset } = mutation;
  const confirmOf = (input: Input): Confirm | undefined =>
    typeof confirm === 'function' ? confirm(input) : confirm;
  const start = (input: Input): void => {
    if (confirmOf(input)) setAsking({ input });
    else mutate(input);
  };
  const draw = (input: Input, { label, text, onClose, ...dialog }: Confirm): ReactElement => (
    <ConfirmDialog
      {...dialog}
      confirmLabel={label}
      onConfirm={() => mutate(input)}
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
  const input = asking ? asking.input : (mutation.variables as Input);
  const question = asking
    ? confirmOf(input)
    : again && isConcurrentChangeError(error)
      ? { isDanger: false, ...again(input) }
      : undefined;
  return {
    ...mutation,
    start,
    press: (pressed) => ({
      isPending: isPending && !asking && mutation.variables === pressed,
      onPress: () => start(pressed),
    }),
    dialog: question ? draw(input, question) : null,
    of: (field) => (error instanceof ApiProblem ? error.of(field) : undefined),
    unlocated: errorMessageWithoutField(error),
  };
}
