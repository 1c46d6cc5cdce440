import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { call } from '../../api/operations.ts';
import { Button } from '../../design/button.tsx';
import { ConfirmChange } from '../../design/dialog.tsx';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import { type Bulk, type FormPlace, refreshSubmissions } from '../queries.ts';
import { saySubmissions } from '../say-submissions.ts';
import { planRemoval } from './plan-removal.ts';

type Props = {
  form: FormPlace;
  selected: readonly string[];
  /** How many lie in the trash, and how many of them go at a time. */
  total: number;
  atOnce: number;
  /** Called when the selection is dealt with. */
  onDone: () => void;
  onStart: (bulk: Bulk) => void;
};

/** What is done with a selection of the trash, or with all of it. */
export function TrashActions({ form, selected, total, atOnce, onDone, onStart }: Props): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const { count, rest } = planRemoval({ selected: selected.length, total, atOnce });
  const what = saySubmissions(count);
  const place = { params: { id: form.id } };
  const restore = useMutation({
    mutationFn: () =>
      call(form.workspace_id, 'restoreSubmissions', { ...place, body: { ids: [...selected] } }),
    async onSuccess({ restored }) {
      toastDone(`${saySubmissions(restored)} restored.`);
      onDone();
      await refreshSubmissions(form);
    },
    onError: toastProblem,
  });
  const empty = useMutation({
    mutationFn: () =>
      call(form.workspace_id, 'emptyTrash', {
        ...place,
        body: {
          ...(selected.length > 0 ? { ids: [...selected] } : { everything: true as const }),
          expected: count,
        },
      }),
    onSuccess(bulk) {
      setAsking(false);
      onDone();
      onStart(bulk);
    },
  });
  return (
    <>
      <Button
        icon="undo"
        isDisabled={selected.length === 0}
        isPending={restore.isPending}
        onPress={() => restore.mutate()}
      >
        Restore
      </Button>
      <Button icon="remove" onPress={() => setAsking(true)}>
        {selected.length === 0 ? 'Empty the trash' : 'Delete for good'}
      </Button>
      <ConfirmChange
        title={`Delete ${what} for good?`}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        confirmLabel={`Delete ${what}`}
        typed={String(count)}
        change={empty}
      >
        <p>
          This cannot be undone. Their files go too, and webhooks that listen are told of each one that had
          been completed.
        </p>
        {rest > 0 && (
          <p>
            At most {atOnce.toLocaleString()} go at a time, the last deleted first: {saySubmissions(rest)}{' '}
            stay in the trash for now.
          </p>
        )}
      </ConfirmChange>
    </>
  );
}
