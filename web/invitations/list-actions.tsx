import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { download } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { ConfirmChange } from '../design/dialog.tsx';
import { toastDone, toastProblem } from '../design/toast.tsx';
import { type FormPlace, remindAll, type InvitationsOverview } from './invitations-query.ts';
import { sayCount } from '#ast/say-count.ts';

/** What is done with all invitations of a form. */
export function ListActions({
  form,
  overview: { counts, mails_per_minute: pace },
}: {
  form: FormPlace;
  overview: InvitationsOverview;
}): ReactElement {
  const [isAsking, setAsking] = useState(false);
  const unanswered = counts.sent + counts.opened + counts.started;
  const remind = useMutation({
    mutationFn: () => remindAll(form),
    onSuccess(count) {
      setAsking(false);
      toastDone(
        count === 0 ? 'Everybody had a mail within the hour.' : `${sayPeople(count)} will be reminded.`,
      );
    },
  });
  const save = useMutation({
    mutationFn: () => download(form.workspace_id, 'exportInvitations', { params: { id: form.id } }),
    onError: toastProblem,
  });
  return (
    <>
      <Button isPending={save.isPending} onPress={() => save.mutate()}>
        Download links
      </Button>
      {pace !== null && (
        <Button icon="send" isDisabled={unanswered === 0} onPress={() => setAsking(true)}>
          Remind
        </Button>
      )}
      <ConfirmChange
        title="Remind those who did not answer?"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        confirmLabel="Send reminders"
        isDanger={false}
        change={remind}
      >
        <p>
          {sayPeople(unanswered)} got the invitation and did not answer. Whoever had a mail within the hour,
          or asked for no more, is left alone.
        </p>
      </ConfirmChange>
    </>
  );
}

const sayPeople = (count: number): string => sayCount(count, 'person', 'people');
