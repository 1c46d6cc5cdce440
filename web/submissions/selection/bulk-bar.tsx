import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { call } from '../../api/operations.ts';
import { Button } from '../../design/button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
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
  /** `trashed`: what lies in the trash then, where that is known. */
  onStart: (bulk: Bulk, trashed?: readonly string[]) => void;
};

/** What is done with a selection, or with everything of the view. */
export function BulkBar({ form, view, selected, total, onClear, onStart }: Props): ReactElement {
  // All that match is meant until the selection changes: a row that is unticked then is not to go.
  const [allBeside, setAllBeside] = useState<ReadonlySet<string>>();
  const isAll = allBeside === selected;
  const [isAsking, setAsking] = useState(false);
  const [isTagging, setTagging] = useState(false);
  const count = isAll ? total : selected.size;
  const chosen = isAll ? { filter: filterOf(view) } : { ids: [...selected] };
  const start = useMutation({
    mutationFn: () =>
      call(form.workspace_id, 'startDeletion', {
        params: { id: form.id },
        body: { ...chosen, expected: count },
      }),
    onSuccess(bulk) {
      setAsking(false);
      onClear();
      onStart(bulk, isAll ? undefined : [...selected]);
    },
  });
  const close = (): void => {
    setAsking(false);
    start.reset();
  };
  const what = saySubmissions(count);
  return (
    <div className="bulk-bar" role="region" aria-label="Selection">
      <strong role="status">
        {isAll ? `All ${what}${isFiltered(view) ? ' of this view' : ''} are selected` : `${what} selected`}
      </strong>
      {!isAll && total > selected.size && (
        <Button size="small" onPress={() => setAllBeside(selected)}>
          Select all {total.toLocaleString()} {isFiltered(view) ? 'matching' : ''}
        </Button>
      )}
      <span className="bulk-space" />
      <Button size="small" icon="edit" onPress={() => setTagging(true)}>
        Tag
      </Button>
      <Button size="small" variant="danger" icon="remove" onPress={() => setAsking(true)}>
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
            onClear();
            onStart(bulk);
          }}
        />
      )}
      {isAsking && (
        <ConfirmDialog
          title={`Delete ${what}?`}
          isOpen
          onClose={close}
          confirmLabel={`Delete ${what}`}
          // A selection comes back by one press; of all that match nobody has the list any more.
          {...(isAll && { typed: String(count) })}
          isPending={start.isPending}
          error={start.error}
          onConfirm={() => start.mutate()}
        >
          <p>
            They go to the trash, and can be restored for 30 days. Then they are deleted for good, and
            webhooks that listen are told.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}
