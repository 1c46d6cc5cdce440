import './forms-screen.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, type ReactElement, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { MarkedText } from '../design/author-text.tsx';
import { Button } from '../design/button.tsx';
import { Checkbox } from '../design/checkbox.tsx';
import { StatusChip } from '../design/chip.tsx';
import { SearchField } from '../design/field.tsx';
import { Page } from '../design/page.tsx';
import { Pager } from '../design/pager.tsx';
import { Select } from '../design/select.tsx';
import { EmptyState, QueryState } from '../design/states.tsx';
import { DataTable, type TableColumn } from '../design/table.tsx';
import { TagChips } from '../design/tags.tsx';
import { Ago } from '../design/time.tsx';
import { useWorkspace, type WorkspaceDetail } from '../settings/workspace.ts';
import { mayEdit } from '../shell/session.ts';
import { CreateForm, CreateFormDialog } from './create/create-form-dialog.tsx';
import { FormActions } from './form-actions.tsx';
import {
  type FormActivityRow,
  type FormListView,
  type FormOrder,
  type FormStatus,
  formsQuery,
  labelsQuery,
  parseFormListView,
} from './forms-query.ts';

/** Loaded when needed, because drag and drop is a large part of react-aria. */
const loadLabels = () => import('./form-labels.tsx');
const LabelLinks = lazy(async () => ({ default: (await loadLabels()).LabelLinks }));
const DraggableForm = lazy(async () => ({ default: (await loadLabels()).DraggableForm }));
const LabelDialog = lazy(async () => ({ default: (await loadLabels()).LabelDialog }));

type FormsTableProps = {
  workspace: WorkspaceDetail;
  forms: readonly FormActivityRow[];
  selected: readonly FormActivityRow[];
  /** Whether there are labels to drag forms to. */
  isDraggable: boolean;
  onSelect: (ids: readonly string[]) => void;
  onLabel: (form: FormActivityRow) => void;
};

function FormsTable({
  workspace,
  forms,
  selected,
  isDraggable,
  onSelect,
  onLabel,
}: FormsTableProps): ReactElement {
  const isEditor = mayEdit(workspace.role);
  const ids = selected.map(({ id }) => id);
  const check = (label: string, isSelected: boolean, chosen: readonly string[], rest: ReactNode) => (
    <span className="forms-check">
      {isEditor && (
        <Checkbox
          aria-label={label}
          isSelected={isSelected}
          onChange={(isAdded) =>
            onSelect([...ids.filter((id) => !chosen.includes(id)), ...(isAdded ? chosen : [])])
          }
        />
      )}
      {rest}
    </span>
  );
  const all = forms.map(({ id }) => id);
  const isAll = ids.length === all.length;
  const columns: TableColumn<FormActivityRow>[] = [
    {
      id: 'name',
      title: check('Select all forms on this page', isAll, all, 'Form'),
      cell(form) {
        const title = <FormTitle form={form} />;
        const isSelected = ids.includes(form.id);
        const draggable = (
          <Suspense fallback={title}>
            <DraggableForm name={form.name} ids={isSelected ? ids : [form.id]}>
              {title}
            </DraggableForm>
          </Suspense>
        );
        return check(`Select ${form.name}`, isSelected, [form.id], isDraggable ? draggable : title);
      },
    },
    { id: 'status', title: 'Status', cell: ({ status }) => <StatusChip status={status} /> },
    {
      id: 'submissions',
      title: 'Submissions',
      isNumeric: true,
      isSecondary: true,
      cell: ({ id, submission_count }) => (
        <Link to="/forms/$form/submissions" params={{ form: id }} className="forms-count">
          {submission_count.toLocaleString()}
          <span className="unseen"> submissions</span>
        </Link>
      ),
    },
    {
      id: 'activity',
      title: 'Last activity',
      isSecondary: true,
      cell: ({ last_activity_at }) => <Ago at={last_activity_at} />,
    },
    {
      id: 'actions',
      title: <span className="unseen">Actions</span>,
      isNumeric: true,
      cell: (form) => <FormActions workspace={workspace} form={form} onLabel={() => onLabel(form)} />,
    },
  ];
  return (
    <DataTable label="Forms" className="forms-table" columns={columns} rows={forms} rowId={({ id }) => id} />
  );
}

function FormTitle({ form }: { form: FormActivityRow }): ReactElement {
  return (
    <div className="forms-title">
      <Link to="/forms/$form" params={{ form: form.id }} className="forms-name">
        {form.name}
      </Link>
      {form.description && (
        <span className="soft small cut">
          <MarkedText text={form.description} isOneLine />
        </span>
      )}
      <TagChips tags={form.labels} />
      <span className="forms-small soft small">
        <Link to="/forms/$form/submissions" params={{ form: form.id }} className="forms-count">
          {formatCount(form.submission_count, 'submission')}
        </Link>
        <Ago at={form.last_activity_at} />
      </span>
    </div>
  );
}

const statuses = [
  { id: 'all', label: 'All statuses' },
  { id: 'published', label: 'Published' },
  { id: 'draft', label: 'Draft' },
  { id: 'archived', label: 'Archived' },
] as const satisfies readonly { id: FormStatus | 'all'; label: string }[];

const orders = [
  { id: 'activity', label: 'Last activity' },
  { id: 'created', label: 'Newest' },
  { id: 'name', label: 'Name' },
  { id: 'submissions', label: 'Submissions' },
] as const satisfies readonly { id: FormOrder; label: string }[];

/** The delay between the last keystroke and the search, in milliseconds. */
const restMs = 200;

type Props = {
  view: FormListView;
  onChange: (change: Partial<FormListView>) => void;
  total: number | undefined;
};

/** The search, filter and order of the list. */
function FormsToolbar({ view, onChange, total }: Props): ReactElement {
  const [text, setText] = useState(view.q ?? '');
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The Back and Forward buttons change the URL, and therefore the search text.
  useEffect(() => setText((typed) => (typed.trim() === (view.q ?? '') ? typed : (view.q ?? ''))), [view.q]);
  useEffect(() => () => clearTimeout(rest.current), []);
  const search = (typed: string): void => {
    setText(typed);
    clearTimeout(rest.current);
    rest.current = setTimeout(() => onChange({ q: typed.trim() || undefined }), restMs);
  };
  return (
    <div className="forms-toolbar" role="search">
      <SearchField label="Search forms" value={text} onChange={search} />
      <Select
        label="Status"
        isLabelHidden
        choices={statuses}
        value={view.status ?? 'all'}
        onChange={(status) => onChange({ status: status === 'all' ? undefined : status })}
      />
      <Select
        label="Sort by"
        isLabelHidden
        choices={orders}
        value={view.sort ?? 'activity'}
        onChange={(sort) => onChange({ sort: sort === 'activity' ? undefined : sort })}
      />
      <span className="unseen" role="status">
        {total === undefined ? '' : formatCount(total, 'form')}
      </span>
    </div>
  );
}

/** The forms of a workspace: search, sort, create and manage them. */
export function FormsScreen(): ReactElement {
  const workspace = useWorkspace();
  const view = parseFormListView(useSearch({ strict: false }));
  const navigate = useNavigate();
  const forms = useQuery(formsQuery(workspace.id, view));
  const { data: labels = [] } = useQuery(labelsQuery(workspace.id));
  const [isCreating, setCreating] = useState(false);
  const [selectedIds, select] = useState<readonly string[]>([]);
  const [labeled, setLabeled] = useState<readonly FormActivityRow[]>();
  const isEditor = mayEdit(workspace.role);
  const rows = forms.data?.data ?? [];
  const selected = rows.filter(({ id }) => selectedIds.includes(id));
  const isFiltered = view.q !== undefined || view.status !== undefined || view.label !== undefined;
  // Changing the view returns to page 1.
  const show = (change: Partial<FormListView>): void =>
    void navigate({
      to: '.',
      search: (current: Record<string, unknown>) => ({
        ...parseFormListView(current),
        page: undefined,
        ...change,
      }),
      replace: true,
      resetScroll: false,
    });
  const isEmpty = forms.data?.pagination.total_count === 0;
  if (isEmpty && !isFiltered && isEditor)
    return (
      <Page title="Forms" lead="Create your first form. It stays private until you publish it.">
        <CreateForm workspaceId={workspace.id} />
      </Page>
    );
  const create = isEditor && (
    <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
      Create form
    </Button>
  );
  const nothing = isFiltered ? (
    <EmptyState
      icon="search"
      title="No matching forms"
      action={
        <Button onPress={() => show({ q: undefined, status: undefined, label: undefined })}>
          Show all forms
        </Button>
      }
    >
      <p>Try another search, status or label.</p>
    </EmptyState>
  ) : (
    <EmptyState icon="form" title="No forms yet">
      <p>When someone creates a form in this workspace, it appears here.</p>
    </EmptyState>
  );
  return (
    <Page title="Forms" actions={create}>
      {!(isEmpty && !isFiltered) && (
        <FormsToolbar view={view} onChange={show} total={forms.data?.pagination.total_count} />
      )}
      <div className="forms-view">
        {labels.length > 0 && (
          <Suspense>
            <LabelLinks workspaceId={workspace.id} labels={labels} current={view.label} forms={rows} />
          </Suspense>
        )}
        <QueryState query={forms} lines={5} empty={isEmpty && nothing}>
          {({ data, pagination }) => (
            <div className="forms-results" data-stale={forms.isPlaceholderData || undefined}>
              {selected.length > 0 && (
                <div className="forms-selection row" role="region" aria-label="Selection">
                  <strong role="status">{formatCount(selected.length, 'form')} selected</strong>
                  <Button size="small" icon="edit" onPress={() => setLabeled(selected)}>
                    Label
                  </Button>
                  <Button size="small" variant="quiet" onPress={() => select([])}>
                    Clear selection
                  </Button>
                </div>
              )}
              <FormsTable
                workspace={workspace}
                forms={data}
                selected={selected}
                isDraggable={isEditor && labels.length > 0}
                onSelect={select}
                onLabel={(form) => setLabeled([form])}
              />
              <Pager label="Pages of forms" pagination={pagination} onChange={(page) => show({ page })} />
            </div>
          )}
        </QueryState>
      </div>
      {labeled && (
        <Suspense>
          <LabelDialog
            workspaceId={workspace.id}
            forms={labeled}
            labels={labels}
            onClose={() => setLabeled(undefined)}
            onDone={() => {
              setLabeled(undefined);
              select([]);
            }}
          />
        </Suspense>
      )}
      <CreateFormDialog workspaceId={workspace.id} isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}
