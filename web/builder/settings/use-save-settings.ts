import { useMutation } from '@tanstack/react-query';
import type { Settings } from '#ast/settings.ts';
import { ApiProblem, patch } from '../../api/client.ts';
import { toastDone } from '../../design/toast.tsx';

type Saving = {
  /** Saves what has changed; without a change there is nothing to press. */
  readonly save: () => void;
  readonly isPending: boolean;
  readonly problem: ApiProblem | undefined;
};

/**
 * Saves settings of the form at `path`, which hold from then on.
 * @param done what is said when they are saved.
 */
export function useSaveSettings(
  path: string,
  changes: object,
  onSaved: (settings: Settings) => void,
  done: string,
): Saving {
  const saving = useMutation({
    mutationFn: () => patch<{ settings: Settings }>(`${path}/settings`, { settings: changes }),
    onSuccess({ settings }) {
      onSaved(settings);
      toastDone(done);
    },
  });
  return {
    save: () => saving.mutate(),
    isPending: saving.isPending,
    problem: saving.error instanceof ApiProblem ? saving.error : undefined,
  };
}
