import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { call } from '../../api/operations.ts';
import { queryClient } from '../../api/query-client.ts';
import { Button } from '../../design/button.tsx';
import { ConfirmChange } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { FormDialog } from '../../design/form-dialog.tsx';
import { Menu, type MenuAction } from '../../design/menu.tsx';
import { toastDone, toastProblem } from '../../design/toast.tsx';
import type { FormPlace } from '../queries.ts';
import type { TableSettings } from '../table/table-settings.ts';
import { type ChangeView, isFiltered, type ViewState, wholeView } from '../view-state.ts';
import { isOtherQuery, savedQuery, type SavedView, savedViewsQuery, showSaved } from './saved-view.ts';

type Props = {
  form: FormPlace;
  view: ViewState;
  /** How the table is arranged as it is seen. */
  columns: TableSettings;
  /** Whether it is arranged otherwise than the saved view. */
  areColumnsOther: boolean;
  mayEdit: boolean;
  onChange: ChangeView;
  /** The columns of a view are those that are saved again, unless they were changed since they were `seen`. */
  onForget: (id: string | undefined, seen: TableSettings) => void;
};

type Asking = 'new' | 'name' | 'delete';

/** The saved views of a form: which one is shown, the way to the others, and what is done with it. */
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
  const isOther = current !== undefined && (areColumnsOther || isOtherQuery(current, view));
  const refresh = () => queryClient.invalidateQueries(savedViewsQuery(form));
  const change = useMutation({
    mutationFn: (body: Partial<Pick<SavedView, 'name' | 'query' | 'columns'>>) =>
      call(form.workspace_id, 'changeView', { params: { id: current!.id }, body }, { seen: current! }),
    async onSuccess({ id, name }, { columns: sent }) {
      await refresh();
      // Another name saves no columns.
      if (sent) onForget(id, sent);
      setAsking(undefined);
      toastDone(`The view “${name}” is saved for everybody.`);
    },
  });
  const show = (saved: SavedView): void => onChange({ ...showSaved(saved), page: 1 });
  const asked = savedQuery(view);
  const items: MenuAction[] = [
    {
      id: 'all',
      label: 'All submissions',
      isCurrent: view.saved === undefined && !isFiltered(view),
      onAction: () => onChange({ ...wholeView, sort: undefined, saved: undefined, page: 1 }),
    },
    ...(views.length === 0
      ? []
      : [
          {
            id: 'saved',
            heading: 'Views of the workspace',
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
                  onAction: () => change.mutate({ query: asked, columns }, { onError: toastProblem }),
                },
              ]
            : []),
          {
            id: 'new',
            label: 'Save as a new view …',
            icon: 'add' as const,
            onAction: () => setAsking('new'),
          },
          ...(current
            ? [
                { id: 'name', label: 'Rename …', icon: 'edit' as const, onAction: () => setAsking('name') },
                {
                  id: 'delete',
                  label: 'Delete this view …',
                  icon: 'remove' as const,
                  isDanger: true,
                  onAction: () => setAsking('delete'),
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
          title="Save as a view"
          before=""
          save={(name) =>
            call(form.workspace_id, 'saveView', {
              params: { id: form.id },
              body: { name, query: asked, columns },
            })
          }
          onClose={() => setAsking(undefined)}
          onSaved={async (made) => {
            await refresh();
            onForget(view.saved, columns);
            setAsking(undefined);
            onChange({ saved: made.id, page: view.page });
            toastDone(`The view “${made.name}” is saved for everybody.`);
          }}
        />
      )}
      {asking === 'name' && current && (
        <NameDialog
          title="Rename the view"
          before={current.name}
          save={(name) => change.mutateAsync({ name })}
          onClose={() => setAsking(undefined)}
          onSaved={() => undefined}
        />
      )}
      {asking === 'delete' && current && (
        <DeleteView
          form={form}
          saved={current}
          onClose={() => setAsking(undefined)}
          onDeleted={async () => {
            setAsking(undefined);
            onChange({ saved: undefined, page: view.page });
            await refresh();
            toastDone(`The view “${current.name}” is deleted.`, {
              label: 'Undo',
              run: () => bringBack(form, current, refresh),
            });
          }}
        />
      )}
    </div>
  );
}

/** A view is nothing but what it says: it is saved once more. */
async function bringBack(
  form: FormPlace,
  { name, query, columns }: SavedView,
  refresh: () => Promise<void>,
): Promise<void> {
  await call(form.workspace_id, 'saveView', { params: { id: form.id }, body: { name, query, columns } });
  await refresh();
}

/** As many characters as the service takes. */
const longestName = 100;

function NameDialog<Saved>({
  title,
  before,
  save,
  onClose,
  onSaved,
}: {
  title: string;
  before: string;
  save: (name: string) => Promise<Saved>;
  onClose: () => void;
  onSaved: (saved: Saved) => unknown;
}): ReactElement {
  const [name, setName] = useState(before);
  const saving = useMutation({ mutationFn: () => save(name.trim()), onSuccess: onSaved });
  return (
    <FormDialog
      title={title}
      description="Its filters, search, order and columns, for everybody in the workspace."
      isOpen
      onClose={onClose}
      onSubmit={() => name.trim() !== '' && saving.mutate()}
      submitLabel="Save view"
      isPending={saving.isPending}
      error={saving.error?.message}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        maxLength={longestName}
        isRequired
        autoFocus
        autoComplete="off"
      />
    </FormDialog>
  );
}

function DeleteView({
  form,
  saved,
  onClose,
  onDeleted,
}: {
  form: FormPlace;
  saved: SavedView;
  onClose: () => void;
  onDeleted: () => unknown;
}): ReactElement {
  const deletion = useMutation({
    mutationFn: () => call(form.workspace_id, 'deleteView', { params: { id: saved.id } }, { seen: saved }),
    onSuccess: onDeleted,
  });
  return (
    <ConfirmChange
      title={`Delete the view “${saved.name}”?`}
      isOpen
      onClose={onClose}
      confirmLabel="Delete view"
      change={deletion}
    >
      <p>Everybody in the workspace loses it. The submissions stay.</p>
    </ConfirmChange>
  );
}
