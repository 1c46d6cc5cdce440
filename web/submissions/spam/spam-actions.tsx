import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { ConfirmChange } from '../../design/dialog.tsx';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import type { FormPlace } from '../queries.ts';
import { decide } from './spam-query.ts';
import { saySubmissions } from '../say-submissions.ts';

type Props = {
  form: FormPlace;
  ids: readonly string[];
  /** Called when these are dealt with. */
  onDone: () => void;
};

/** What is done with some of the spam box. */
export function SpamActions({ form, ids, onDone }: Props): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const release = useMutation({
    mutationFn: () => decide(form, 'releaseSpam', ids),
    onSuccess(count) {
      toastDone(`${saySubmissions(count)} moved to the submissions.`);
      onDone();
    },
    onError: toastProblem,
  });
  const remove = useMutation({
    mutationFn: () => decide(form, 'deleteSpam', ids),
    onSuccess(count) {
      setAsking(false);
      toastDone(`${saySubmissions(count)} deleted.`);
      onDone();
    },
  });
  return (
    <>
      <Button
        icon="check"
        isDisabled={ids.length === 0}
        isPending={release.isPending}
        onPress={() => release.mutate()}
      >
        Not spam
      </Button>
      <Button
        icon="remove"
        isDisabled={ids.length === 0 || release.isPending}
        onPress={() => setAsking(true)}
      >
        Delete
      </Button>
      <ConfirmChange
        title={`Delete ${saySubmissions(ids.length)}?`}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        confirmLabel="Delete"
        change={remove}
      >
        <p>Their answers and files are gone for good. No webhook is told, as none was told that they came.</p>
      </ConfirmChange>
    </>
  );
}
