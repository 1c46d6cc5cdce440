import { type ReactElement, useState } from 'react';
import { call } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Menu } from '../../design/menu.tsx';
import { type Bulk, type FormPlace, saySubmissions } from '../queries.ts';
import { TagField, tagsIn } from '../tags.tsx';
import { filterOf, isFiltered, type ViewState } from '../view-state.ts';

type TagProps = {
  form: FormPlace;
  chosen: { ids: string[] } | { filter: ReturnType<typeof filterOf> };
  count: number;
  onClose: () => void;
  onStart: (bulk: Bulk) => void;
};

/** Tags many at once: adds some, takes others away. */
function TagDialog({ form, chosen, count, onClose, onStart }: TagProps): ReactElement {
  const [added, setAdded] = useState('');
  const [removed, setRemoved] = useState('');
  const tags = { add: tagsIn(added), remove: tagsIn(removed) };
  const start = useAction({
    run: () =>
      call(form.workspace_id, 'startTagging', {
        params: { id: form.id },
        body: { ...chosen, ...tags, expected: count },
      }),
    onDone: onStart,
  });
  const isEmpty = tags.add.length + tags.remove.length === 0;
  return (
    <FormDialog
      title={`Tag ${saySubmissions(count)}`}
      isOpen
      onClose={onClose}
      onSubmit={() => !isEmpty && start.mutate()}
      submitLabel={`Tag ${saySubmissions(count)}`}
      isDisabled={isEmpty}
      action={start}
      error={start.error?.message}
    >
      <TagField
        form={form}
        label="Add tags"
        description="Several with commas between them."
        value={added}
        onChange={setAdded}
      />
      <TagField form={form} label="Remove tags" value={removed} onChange={setRemoved} />
    </FormDialog>
  );
}

type Props = {
  form: FormPlace;
  view: ViewState;
  selected: ReadonlySet<string>;
  /** How many the view has in all. */
  total: number;
  onClear: () => void;
  onStart: (bulk: Bulk) => void;
};

/** So many are named one by one (the service's limit of `ids`); all that match are a filter. */
const mostTicked = 1_000;

type Status = 'completed' | 'incomplete';

/** What is done with a selection, or with everything of the view. */
export function BulkBar({ form, view, selected, total, onClear, onStart }: Props): ReactElement {
  // All that match is meant until the selection changes: a row that is unticked then is not to go.
  const [allBeside, setAllBeside] = useState<ReadonlySet<string>>();
  const isAll = allBeside === selected;
  const [isTagging, setTagging] = useState(false);
  const count = isAll ? total : selected.size;
  const chosen = isAll ? { filter: filterOf(view) } : { ids: [...selected] };
  const given = { params: { id: form.id }, body: { ...chosen, expected: count } };
  const what = saySubmissions(count);
  const begun = (bulk: Bulk): void => {
    onClear();
    onStart(bulk);
  };
  const remove = useAction({
    run: () => call(form.workspace_id, 'startDeletion', given),
    confirm: {
      title: `Delete ${what}?`,
      label: `Delete ${what}`,
      text: 'They go to the trash, and can be restored for 30 days. Then they are deleted for good, and webhooks that listen are told.',
    },
    onDone: begun,
  });
  const mark = useAction({
    run: (status: Status) =>
      call(form.workspace_id, 'startBulkChange', { ...given, body: { ...given.body, status } }),
    confirm: (status) => ({
      title: `Mark ${what} as ${status}?`,
      label: `Mark ${what}`,
      isDanger: false,
      text:
        status === 'completed'
          ? 'Webhooks that listen are told of each, and the mails of a new submission go out. What lacks a required answer stays incomplete.'
          : 'Webhooks that listen are told of each that had been completed.',
    }),
    onDone: begun,
  });
  const isTooMuch = !isAll && selected.size > mostTicked;
  return (
    <div className="bulk-bar" role="region" aria-label="Selection">
      <strong role="status">
        {isAll ? `All ${what}${isFiltered(view) ? ' of this view' : ''} are selected` : `${what} selected`}
        {isTooMuch && `: ${mostTicked.toLocaleString()} at a time, or all of them`}
      </strong>
      {!isAll && total > selected.size && (
        <Button size="small" onPress={() => setAllBeside(selected)}>
          Select all {total.toLocaleString()} {isFiltered(view) ? 'matching' : ''}
        </Button>
      )}
      <span className="bulk-space" />
      <Button size="small" icon="edit" isDisabled={isTooMuch} onPress={() => setTagging(true)}>
        Tag
      </Button>
      <Menu items={statuses.map(({ id, label }) => ({ id, label, onAction: () => mark.start(id) }))}>
        <Button size="small" icon="check" isDisabled={isTooMuch}>
          Status
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
