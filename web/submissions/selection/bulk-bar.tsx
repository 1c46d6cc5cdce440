import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { Menu } from '../../design/menu.tsx';
import { TagsDialog } from '../../design/tags.tsx';
import {
  type BulkChangeReply,
  type FormLocation,
  formatSubmissionCount,
  tagsQuery,
  useTeam,
} from '../queries.ts';
import { isViewFiltered, toFilterParameters, type ViewState } from '../view-state.ts';

type TagProps = {
  form: FormLocation;
  chosen: { ids: string[] } | { filter: ReturnType<typeof toFilterParameters> };
  count: number;
  onClose: () => void;
  onStart: (bulk: BulkChangeReply) => void;
};

/** Adds tags to many submissions, or removes them. */
function TagDialog({ form, chosen, count, onClose, onStart }: TagProps): ReactElement {
  const { data: suggestions = [] } = useQuery(tagsQuery(form));
  const start = useAction({
    run: (tags: { add: string[]; remove: string[] }) =>
      callOperation(form.workspace_id, 'startTagging', {
        params: { id: form.id },
        body: { ...chosen, ...tags, expected: count },
      }),
    onDone: onStart,
  });
  const title = `Tag ${formatSubmissionCount(count)}`;
  return <TagsDialog title={title} noun="tags" suggestions={suggestions} action={start} onClose={onClose} />;
}

type Props = {
  form: FormLocation;
  view: ViewState;
  selected: ReadonlySet<string>;
  /** The number of submissions in the view. */
  total: number;
  onClear: () => void;
  onStart: (bulk: BulkChangeReply) => void;
};

/** The maximum number of IDs that the service accepts. Larger selections use the filter of the view. */
const mostTicked = 1_000;

type Status = 'completed' | 'incomplete';

/** The bulk actions for a selection, or for all submissions of the view. */
export function BulkBar({ form, view, selected, total, onClear, onStart }: Props): ReactElement {
  // "Select all" applies until the selection changes, so that an unselected row is never included.
  const [allBeside, setAllBeside] = useState<ReadonlySet<string>>();
  const isAll = allBeside === selected;
  const [isTagging, setTagging] = useState(false);
  const count = isAll ? total : selected.size;
  const chosen = isAll ? { filter: toFilterParameters(view) } : { ids: [...selected] };
  const given = { params: { id: form.id }, body: { ...chosen, expected: count } };
  const what = formatSubmissionCount(count);
  const begun = (bulk: BulkChangeReply): void => {
    onClear();
    onStart(bulk);
  };
  const remove = useAction({
    run: () => callOperation(form.workspace_id, 'startDeletion', given),
    confirm: {
      title: `Delete ${what}?`,
      label: `Delete ${what}`,
      text: 'They are moved to the trash, where you can restore them. Later they are permanently deleted with their files, and subscribed webhooks are notified.',
    },
    onDone: begun,
  });
  const mark = useAction({
    run: (status: Status) =>
      callOperation(form.workspace_id, 'startBulkChange', {
        ...given,
        body: { ...given.body, status },
      }),
    confirm: (status) => ({
      title: `Mark ${what} as ${status}?`,
      label: `Mark ${what}`,
      isDanger: false,
      text:
        status === 'completed'
          ? 'Subscribed webhooks are notified, and emails about new submissions are sent. Submissions that lack a required answer stay incomplete.'
          : 'Subscribed webhooks are notified of each change from completed to incomplete.',
    }),
    onDone: begun,
  });
  const team = useTeam(form);
  const assign = useAction({
    run: (assignment: { stage_id: string } | { assignee_id: string | null }) =>
      callOperation(form.workspace_id, 'startBulkChange', {
        ...given,
        body: { ...given.body, ...assignment },
      }),
    onDone: begun,
    problem: 'toast',
  });
  const members = [{ id: null, label: 'No one' }, ...team.members];
  const isTooMuch = !isAll && selected.size > mostTicked;
  return (
    <div className="bulk-bar" role="region" aria-label="Selection">
      <strong role="status">
        {isAll
          ? `All ${what}${isViewFiltered(view) ? ' in this view' : ''} are selected`
          : `${what} selected`}
        {isTooMuch && `: select at most ${mostTicked.toLocaleString()}, or all`}
      </strong>
      {!isAll && total > selected.size && (
        <Button size="small" onPress={() => setAllBeside(selected)}>
          Select all {total.toLocaleString()} {isViewFiltered(view) ? 'matching' : ''}
        </Button>
      )}
      <span className="bulk-space" />
      <Button size="small" icon="edit" isDisabled={isTooMuch} onPress={() => setTagging(true)}>
        Tag
      </Button>
      <Menu
        items={[
          ...statuses.map(({ id, label }) => ({ id, label, onAction: () => mark.start(id) })),
          {
            id: 'stages',
            heading: 'Move to stage',
            items: team.stages.map(({ id, name }) => ({
              id: `stage ${id}`,
              label: name,
              onAction: () => assign.start({ stage_id: id }),
            })),
          },
        ]}
      >
        <Button size="small" icon="check" isDisabled={isTooMuch}>
          Status
        </Button>
      </Menu>
      <Menu
        items={members.map(({ id, label }) => ({
          id: id ?? 'none',
          label,
          onAction: () => assign.start({ assignee_id: id }),
        }))}
      >
        <Button size="small" icon="people" isDisabled={isTooMuch}>
          Assign
        </Button>
      </Menu>
      <Button size="small" variant="danger" icon="remove" isDisabled={isTooMuch} {...remove.press()}>
        Delete
      </Button>
      <Button size="small" variant="quiet" onPress={onClear}>
        Clear selection
      </Button>
      {isTagging && (
        <TagDialog
          form={form}
          chosen={chosen}
          count={count}
          onClose={() => setTagging(false)}
          onStart={(bulk) => {
            setTagging(false);
            begun(bulk);
          }}
        />
      )}
      {remove.dialog}
      {mark.dialog}
    </div>
  );
}

const statuses = [
  { id: 'completed', label: 'Mark as completed' },
  { id: 'incomplete', label: 'Mark as incomplete' },
] as const satisfies readonly { id: Status; label: string }[];
