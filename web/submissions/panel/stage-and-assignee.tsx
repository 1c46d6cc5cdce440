import type { ReactElement } from 'react';
import { assignmentColumns } from '#rules/stages.ts';
import type { SubmissionDetail } from '#submissions/shapes.ts';
import { Select } from '../../design/select.tsx';
import type { FormLocation } from '../queries.ts';
import { describeAssignment, StageChip, useTeam } from '../stages.tsx';
import { useSubmissionChange } from './edit/use-change.tsx';

/** The choice of no one. Members have UUIDs. */
const noOne = 'none';

/** Shows the stage and the assignee of a submission. People who may edit change them here at once. */
export function StageAndAssignee({
  form,
  submission,
  mayEdit,
}: {
  form: FormLocation;
  submission: SubmissionDetail;
  mayEdit: boolean;
}): ReactElement {
  const team = useTeam(form);
  const { stage_id, assignee_id } = submission;
  const change = useSubmissionChange(form, submission, {
    takeBack:
      ({ on, made }) =>
      (_, since) => {
        const parts = (['stage_id', 'assignee_id'] as const).filter((part) => on[part] !== made[part]);
        if (since.some((state) => parts.some((part) => state[part] !== made[part])))
          throw new Error('It has been changed since.');
        return Object.fromEntries(parts.map((part) => [part, on[part]]));
      },
  });
  const problem = change.error ?? team.error;
  const assignee =
    assignee_id === null ? 'No one' : describeAssignment(assignee_id, assignmentColumns.assignee, team);
  if (!mayEdit)
    return (
      <div className="row panel-assignment">
        <StageChip id={stage_id} stages={team.stages} />
        <span className="soft small">Assignee: {assignee}</span>
      </div>
    );
  return (
    <div className="row panel-assignment">
      <Select
        label="Stage"
        size="small"
        choices={team.stages.map(({ id, name }) => ({ id, label: name }))}
        value={stage_id}
        onChange={(id) => id !== stage_id && change.mutate({ stage_id: id })}
      />
      <Select
        label="Assignee"
        size="small"
        choices={[{ id: noOne, label: 'No one' }, ...team.members]}
        value={assignee_id ?? noOne}
        onChange={(id) =>
          id !== (assignee_id ?? noOne) && change.mutate({ assignee_id: id === noOne ? null : id })
        }
      />
      {problem && (
        <p className="field-error" role="alert">
          {problem.message}
        </p>
      )}
    </div>
  );
}
