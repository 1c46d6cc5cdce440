import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useState } from 'react';
import { callOperation } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { FieldsDialog } from '../../design/form-dialog.tsx';
import { Menu } from '../../design/menu.tsx';
import type { FormLocation } from '../queries.ts';
import type { TableSettings } from '../table/table-settings.ts';
import { type ChangeView, searchOf, unfilteredView, type ViewState } from '../view-state.ts';
import {
  applySavedView,
  differsFromSaved,
  type SavedView,
  savedViewsQuery,
  toSavedQuery,
} from './saved-view.ts';

type Props = {
  form: FormLocation;
  view: ViewState;
  /** The current column settings. */
  columns: TableSettings;
  /** Whether the columns differ from the saved view. */
  areColumnsOther: boolean;
  mayEdit: boolean;
  onChange: ChangeView;
  /** Restores the columns of a saved view, unless they were changed after `seen`. */
  onForget: (id: string | undefined, seen: TableSettings) => void;
};

type Asking = 'new' | 'name';

const allSubmissions = { ...unfilteredView, sort: undefined, saved: undefined, open: undefined };

/** The saved views as tabs, and the buttons that save, rename and delete them. */
export function ViewTabs({
  form,
  view,
  columns,
  areColumnsOther,
  mayEdit,
  onChange,
  onForget,
}: Props): ReactElement {
  const { data: views = [] } = useQuery(savedViewsQuery(form));
  const [asking, setAsking] = useState<Asking>();
  const current = views.find(({ id }) => id === view.saved);
  const isOther = current !== undefined && (areColumnsOther || differsFromSaved(current, view));
  const place = { params: { id: form.id } };
  const changeCurrent = (body: Partial<Pick<SavedView, 'name' | 'query' | 'columns'>>) =>
    callOperation(form.workspace_id, 'changeView', { params: { id: current!.id }, body }, { seen: current! });
  const keep = useAction({
    run: () => changeCurrent({ query: toSavedQuery(view), columns }),
    done: savedMessage,
    onDone: ({ id }) => onForget(id, columns),
    problem: 'toast',
  });
  const remove = useAction({
    run: () =>
      callOperation(form.workspace_id, 'deleteView', { params: { id: current!.id } }, { seen: current! }),
    confirm: {
      title: `Delete the view “${current?.name}”?`,
      label: 'Delete view',
      text: 'The view is deleted for all members. The submissions are kept.',
    },
    onLeave: () => onChange({ saved: undefined, page: view.page }),
    done() {
      // A view has no other data, so Undo can save it again.
      const { name, query, columns: saved } = current!;
      const run = () =>
        callOperation(form.workspace_id, 'saveView', {
          ...place,
          body: { name, query, columns: saved },
        });
      return { text: `The view “${name}” was deleted.`, action: { label: 'Undo', run } };
    },
  });
  const tabs = [
    { id: undefined, name: 'All submissions', view: allSubmissions },
    ...views.map((saved) => ({ id: saved.id, name: saved.name, view: applySavedView(saved) })),
  ];
  return (
    <div className="views">
      <nav aria-label="Views" className="tab-list">
        {tabs.map((tab) => (
          <Link
            key={tab.id ?? 'all'}
            to="/forms/$form/submissions"
            params={{ form: form.id }}
            search={(before: Record<string, unknown>) => searchOf(before, { ...tab.view, page: 1 })}
            className="tab"
            activeOptions={{ exact: true }}
            {...(tab.id === current?.id && { 'aria-current': 'page' as const })}
          >
            <span className="views-name cut">{tab.name}</span>
          </Link>
        ))}
      </nav>
      {isOther && (
        <>
          {mayEdit && (
            <Button size="small" icon="check" isPending={keep.isPending} onPress={() => keep.start()}>
              Save changes
            </Button>
          )}
          <Button
            size="small"
            variant="quiet"
            onPress={() => {
              onForget(current.id, columns);
              onChange({ ...applySavedView(current), page: 1 });
            }}
          >
            Reset
          </Button>
        </>
      )}
      {mayEdit && (
        <Button size="small" variant="quiet" icon="add" onPress={() => setAsking('new')}>
          Save as view
        </Button>
      )}
      {mayEdit && current && (
        <Menu
          items={[
            { id: 'name', label: 'Rename…', icon: 'edit', onAction: () => setAsking('name') },
            {
              id: 'delete',
              label: 'Delete this view…',
              icon: 'remove',
              isDanger: true,
              onAction: () => remove.start(),
            },
          ]}
        >
          <IconButton icon="more" size="small" label={`Actions for the view “${current.name}”`} />
        </Menu>
      )}
      {asking === 'new' && (
        <NameDialog
          title="Save as view"
          description="Saves the filters, search, sorting and columns for all members."
          before=""
          run={(name) =>
            callOperation(form.workspace_id, 'saveView', {
              ...place,
              body: { name, query: toSavedQuery(view), columns },
            })
          }
          onClose={() => setAsking(undefined)}
          onSaved={({ id }) => {
            onForget(view.saved, columns);
            onChange({ saved: id, page: view.page });
          }}
        />
      )}
      {asking === 'name' && current && (
        <NameDialog
          title="Rename view"
          description="Renames the view for all members."
          before={current.name}
          run={(name) => changeCurrent({ name })}
          onClose={() => setAsking(undefined)}
        />
      )}
      {remove.dialog}
    </div>
  );
}

const savedMessage = ({ name }: SavedView): string => `The view “${name}” was saved for all members.`;

/** The maximum length of a name that the service accepts. */
const longestName = 100;

function NameDialog({
  title,
  description,
  before,
  run,
  onClose,
  onSaved,
}: {
  title: string;
  description: string;
  before: string;
  run: (name: string) => Promise<SavedView>;
  onClose: () => void;
  onSaved?: (saved: SavedView) => void;
}): ReactElement {
  const save = useAction({
    run: ({ name }: { name: string }) => run(name.trim()),
    done: savedMessage,
    onDone(saved) {
      onClose();
      onSaved?.(saved);
    },
  });
  return (
    <FieldsDialog
      title={title}
      description={description}
      onClose={onClose}
      submitLabel="Save view"
      action={save}
      begin={{ name: before }}
      fields={{
        name: {
          label: 'Name',
          maxLength: longestName,
          isRequired: true,
          autoFocus: true,
        },
      }}
    />
  );
}
