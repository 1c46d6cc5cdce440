import type { ReactElement } from 'react';
import { isStale } from '../api/client.ts';
import { ConfirmDialog } from './dialog.tsx';
import { toastProblem } from './toast.tsx';

/** For what is done at one press, on what others may change too: asks again where somebody was faster. */
export function AskAgain<Asked>({
  change: { error, variables, reset },
  sayTitle,
  sayAgain,
  onAgain,
}: {
  change: { error: Error | null; variables: Asked | undefined; reset: () => void };
  sayTitle: (asked: Asked) => string;
  sayAgain: (asked: Asked) => string;
  onAgain: (asked: Asked) => void;
}): ReactElement | null {
  if (!isStale(error) || variables === undefined) return null;
  return (
    <ConfirmDialog
      title={sayTitle(variables)}
      isOpen
      isDanger={false}
      onClose={reset}
      confirmLabel={sayAgain(variables)}
      onConfirm={() => onAgain(variables)}
      error={error}
    />
  );
}

/** For the `onError` of such a change: what AskAgain asks about is not said besides. */
export const toastUnlessAsked = (error: Error): void => (isStale(error) ? undefined : toastProblem(error));
