import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { ApiProblem, unlocatedProblem } from '../../api/client.ts';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { CardForm } from '../../design/card-form.tsx';
import { NumberInput } from '../../design/number-input.tsx';
import { Card } from '../../design/page.tsx';
import { toastDone } from '../../design/toast.tsx';
import type { WorkspaceDetail } from '../workspace.ts';

/** For how long the activity is kept: for owners to say, as it tells what everybody else did. */
export function AuditDays({
  workspace,
  auditDays,
  seen,
}: {
  workspace: WorkspaceDetail;
  auditDays: number;
  seen: { updated_at: string };
}): ReactElement {
  const [days, setDays] = useState<number | undefined>(auditDays);
  const save = useMutation({
    mutationFn: () => call(workspace.id, 'changeRetention', { body: { audit_days: days ?? 0 } }, { seen }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['retention', workspace.id] });
      toastDone('The activity is kept for as long as you say.');
    },
  });
  const isOwner = workspace.role === 'owner';
  return (
    <Card title="Activity" lead="Who did what, which nobody can change; from 30 days to ten years.">
      <CardForm
        label={isOwner ? 'Save days' : undefined}
        isPending={save.isPending}
        error={unlocatedProblem(save.error)}
        onSubmit={() => save.mutate()}
      >
        <NumberInput
          label="Days of activity"
          isWhole
          isReadOnly={!isOwner}
          description={isOwner ? undefined : 'Owners decide about it.'}
          value={days}
          onChange={setDays}
          error={save.error instanceof ApiProblem ? save.error.of('audit_days') : undefined}
        />
      </CardForm>
    </Card>
  );
}
