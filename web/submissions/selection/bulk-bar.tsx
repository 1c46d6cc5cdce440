import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { call } from '../../api/operations.ts';
import { Button } from '../../design/button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { Menu } from '../../design/menu.tsx';
import type { Bulk, FormPlace } from '../queries.ts';
import { filterOf, isFiltered, type ViewState } from '../view-state.ts';
import { saySubmissions } from '../say-submissions.ts';
import { TagDialog } from './tag-dialog.tsx';

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
/** What is asked before it is done. */
type Asking = 'deletion' | 'tags' | Status;

/** What is done with a selection, or with everything of the view. */
export function BulkBar({ form, view, selected, total, onClear, onStart }: Props): ReactElement {
  // All that match is meant until the selection changes: a row that is unticked then is not to go.
  const [allBeside, setAllBeside] = useState<ReadonlySet<string>>();
  const isAll = allBeside === selected;
  const [asking, setAsking] = useState<Asking>();
  const count = isAll ? total : selected.size;
  const chosen = isAll ? { filter: filterOf(view) } : { ids: [...selected] };
  const given = { params: { id: form.id }, body: { ...chosen, expected: count } };
  const begun = (bulk: Bulk): void => {
    setAsking(undefined);
    onClear();
    onStart(bulk);
  };
  const start = useMutation({
    mutationFn: (status?: Status) =>
      status === undefined
        ? call(form.workspace_id, 'startDeletion', given)
        : call(form.workspace_id, 'startBulkChange', { ...given, body: { ...given.body, status } }),
    onSuccess: begun,
  });
  const close = (): void => {
    setAsking(undefined);
    start.reset();
  };
  const what = saySubmissions(count);
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
      <Button size="small" icon="edit" isDisabled={isTooMuch} onPress={() => setAsking('tags')}>
        Tag
      </Button>
      <Menu items={statuses.map(({ id, label }) => ({ id, label, onAction: () => setAsking(id) }))}>
        <Button size="small" icon="check" isDisabled={isTooMuch}>
          Status
        </Button>
      </Menu>
      <Button
        size="small"
        variant="danger"
        icon="remove"
        isDisabled={isTooMuch}
        onPress={() => setAsking('deletion')}
      >
        Delete
      </Button>
      <Button size="small" variant="quiet" onPress={onClear}>
        Clear selection
      </Button>
      {asking === 'tags' && (
        <TagDialog
          form={form}
          chosen={chosen}
          count={count}
          onClose={() => setAsking(undefined)}
          onStart={begun}
        />
      )}
      {asking === 'deletion' && (
        <ConfirmDialog
          title={`Delete ${what}?`}
          isOpen
          onClose={close}
          confirmLabel={`Delete ${what}`}
          isPending={start.isPending}
          error={start.error}
          onConfirm={() => start.mutate(undefined)}
        >
          <p>
            They go to the trash, and can be restored for 30 days. Then they are deleted for good, and
            webhooks that listen are told.
          </p>
        </ConfirmDialog>
      )}
      {(asking === 'completed' || asking === 'incomplete') && (
        <ConfirmDialog
          title={`Mark ${what} as ${asking}?`}
          isOpen
          onClose={close}
          confirmLabel={`Mark ${what}`}
          isDanger={false}
          isPending={start.isPending}
          error={start.error}
          onConfirm={() => start.mutate(asking)}
        >
          <p>
            {asking === 'completed'
              ? 'Webhooks that listen are told of each, and the mails of a new submission go out. What lacks a required answer stays incomplete.'
              : 'Webhooks that listen are told of each that had been completed.'}
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}

const statuses = [
  { id: 'completed', label: 'Mark as completed' },
  { id: 'incomplete', label: 'Mark as incomplete' },
] as const satisfies readonly { id: Status; label: string }[];
