import { useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { call } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button } from '../../design/button.tsx';
import { FieldsDialog } from '../../design/fields.tsx';
import { Menu, type MenuAction } from '../../design/menu.tsx';
import type { FormLocation } from '../queries.ts';
import type { TableSettings } from '../table/table-settings.ts';
import { type ChangeView, isFiltered, unfilteredView, type ViewState } from '../view-state.ts';
import {
  applySavedView,
  differsFromSaved,
  type SavedView,
  savedQuery,
  savedViewsQuery,
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

/** The menu of saved views, in which views can be opened, saved, renamed and deleted. */
export function ViewsMenu({
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
    call(form.workspace_id, 'changeView', { params: { id: current!.id }, body }, { seen: current! });
  const keep = useAction({
    run: () => changeCurrent({ query: savedQuery(view), columns }),
    done: savedMessage,
    onDone: ({ id }) => onForget(id, columns),
    problem: 'toast',
  });
  const remove = useAction({
    run: () => call(form.workspace_id, 'deleteView', { params: { id: current!.id } }, { seen: current! }),
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
        call(form.workspace_id, 'saveView', { ...place, body: { name, query, columns: saved } });
      return { text: `The view “${name}” was deleted.`, action: { label: 'Undo', run } };
    },
  });
  const show = (saved: SavedView): void => onChange({ ...applySavedView(saved), page: 1 });
  const items: MenuAction[] = [
    {
      id: 'all',
      label: 'All submissions',
      isCurrent: view.saved === undefined && !isFiltered(view),
      onAction: () => onChange({ ...unfilteredView, sort: undefined, saved: undefined, page: 1 }),
    },
    ...(views.length === 0
      ? []
      : [
          {
            id: 'saved',
            heading: 'Workspace views',
            items: views.map((saved) => ({
              id: saved.id,
              label: saved.name,
              isCurrent: saved.id === current?.id,
              ...(saved.created_by !== null && { description: `By ${saved.created_by}` }),
              onAction: () => show(saved),
            })),
          },
        ]),
    ...(mayEdit
      ? [
          { id: 'line', separator: true as const },
          ...(current && isOther
            ? [
                {
                  id: 'keep',
                  label: `Save changes to “${current.name}”`,
                  icon: 'check' as const,
                  onAction: () => keep.start(),
                },
              ]
            : []),
          {
            id: 'new',
            label: 'Save as new view…',
            icon: 'add' as const,
            onAction: () => setAsking('new'),
          },
          ...(current
            ? [
                { id: 'name', label: 'Rename…', icon: 'edit' as const, onAction: () => setAsking('name') },
                {
                  id: 'delete',
                  label: 'Delete this view…',
                  icon: 'remove' as const,
                  isDanger: true,
                  onAction: () => remove.start(),
                },
              ]
            : []),
        ]
      : []),
  ];
  return (
    <div className="views">
      <Menu items={items} placement="bottom start">
        <Button icon="table" aria-label={current ? `View: ${current.name}` : 'Views: all submissions'}>
          <span className="views-name cut">{current?.name ?? 'Views'}</span>
        </Button>
      </Menu>
      {isOther && (
        <>
          <span className="soft small">changed</span>
          <Button
            size="small"
            variant="quiet"
            onPress={() => {
              onForget(current.id, columns);
              show(current);
            }}
          >
            Reset
          </Button>
        </>
      )}
      {asking === 'new' && (
        <NameDialog
          title="Save as view"
          before=""
          run={(name) =>
            call(form.workspace_id, 'saveView', {
              ...place,
              body: { name, query: savedQuery(view), columns },
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
  before,
  run,
  onClose,
  onSaved,
}: {
  title: string;
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
      description="Saves the filters, search, sorting and columns for all members."
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
          autoComplete: 'off',
        },
      }}
    />
  );
}
