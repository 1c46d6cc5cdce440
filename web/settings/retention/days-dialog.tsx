import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Message } from '../../design/message.tsx';
import { NumberInput } from '../../design/number-input.tsx';
import { Select } from '../../design/select.tsx';
import { toastDone } from '../../design/toast.tsx';
import { type Days, dueQuery, type RetentionPlace, type RetentionRule, saveDays } from './retention-query.ts';
import { kindWords, sayDue } from './retention-words.ts';

type Choice = 'usual' | 'days' | 'forever';

/** Says for how long something is kept, with what that takes away before it is saved. */
export function DaysDialog({
  place,
  rule,
  seen,
  onClose,
}: {
  place: RetentionPlace;
  rule: RetentionRule;
  seen: { updated_at: string };
  onClose: () => void;
}): ReactElement {
  const isOwn = rule.said_by === (place.form === undefined ? 'workspace' : 'form');
  const [choice, setChoice] = useState<Choice>(
    !isOwn ? 'usual' : rule.days === 'forever' ? 'forever' : 'days',
  );
  const [number, setNumber] = useState(typeof rule.days === 'number' ? rule.days : undefined);
  const days: Days = choice === 'usual' ? null : choice === 'forever' ? 'forever' : (number ?? null);
  const isFit = choice !== 'days' || (number !== undefined && number >= 1 && number <= rule.most_days);
  const due = useQuery({ ...dueQuery(place, { kind: rule.kind, days }), enabled: isFit });
  const save = useMutation({
    mutationFn: () => saveDays(place, { kind: rule.kind, days }, seen),
    onSuccess() {
      toastDone('It is kept for as long as you say.');
      onClose();
    },
  });
  const usual = place.form === undefined ? 'As usual' : 'As the workspace says';
  const found = due.data?.get(rule.kind);
  return (
    <FormDialog
      title={kindWords[rule.kind]}
      description={rule.means}
      isOpen
      onClose={onClose}
      onSubmit={() => isFit && save.mutate()}
      submitLabel={found && found.due_now > 0 ? 'Save, and erase what is over' : 'Save'}
      isPending={save.isPending}
      error={unlocatedProblem(save.error)}
    >
      <Select
        label="Kept"
        value={choice}
        choices={[
          { id: 'usual', label: usual },
          { id: 'days', label: 'For some days' },
          ...(rule.may_stay ? [{ id: 'forever' as const, label: 'Until somebody deletes it' }] : []),
        ]}
        onChange={setChoice}
      />
      {choice === 'days' && (
        <NumberInput
          label="Days"
          isWhole
          value={number}
          onChange={setNumber}
          error={
            save.error instanceof ApiProblem
              ? save.error.of(rule.kind)
              : isFit
                ? undefined
                : `From 1 to ${rule.most_days.toLocaleString()} days.`
          }
        />
      )}
      {isFit && due.error && <Message tone="bad">What goes could not be read: {due.error.message}</Message>}
      {isFit && found && <Message tone={found.due_now > 0 ? 'warn' : 'info'}>{sayDue(found)}</Message>}
    </FormDialog>
  );
}
