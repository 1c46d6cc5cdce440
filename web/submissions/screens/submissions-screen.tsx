import './submissions-screen.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactElement, useCallback, useMemo, useState } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { takesFiles } from '#ast/form/input-rules.ts';
import { orderColumns } from '#rules/columns.ts';
import { Button } from '../../design/button.tsx';
import { CopyField } from '../../design/copy-button.tsx';
import { useTitle } from '../../design/page.tsx';
import { Pager } from '../../design/pager.tsx';
import { EmptyState, ErrorState, Loading, SlowNote } from '../../design/states.tsx';
import { useWide } from '../../design/use-window.ts';
import { mayEdit, useCurrentForm } from '../../shell/session.ts';
import { PanelContainer } from '../panel/panel-container.tsx';
import {
  columnsQuery,
  correctedSearchQuery,
  type FormLocation,
  firstSubmissionPollMs,
  spamCountQuery,
  tableQuery,
  useTeam,
} from '../queries.ts';
import { BulkBar } from '../selection/bulk-bar.tsx';
import { addBulkChange, BulksProgress } from '../selection/bulk-progress.tsx';
import { useSelection } from '../selection/selectable-cell.tsx';
import {
  ColumnsDialog,
  columnWidthLimits,
  foundColumn,
  listMovableColumns,
  moveColumn,
} from '../table/columns-dialog.tsx';
import { SubmissionsTable } from '../table/submissions-table.tsx';
import { hasChangedColumns, usualSettings } from '../table/table-settings.ts';
import { isViewFiltered, unfilteredView, useViewState } from '../view-state.ts';
import { useViewColumns } from '../views/saved-view.ts';
import { ViewTabs } from '../views/view-tabs.tsx';
import { TableTools } from './table-tools.tsx';
import { Toolbar } from './toolbar.tsx';

/** The submissions of a form: the table, its filters, and one open submission. */
export function SubmissionsScreen(): ReactElement {
  const form = useCurrentForm();
  const [view, changeView] = useViewState();
  const table = useQuery(tableQuery(form, view));
  const columns = useQuery(columnsQuery(form));
  const viewColumns = useViewColumns(form, view.saved);
  const { settings: loadedSettings, change: changeSettings } = viewColumns;
  const settings = loadedSettings ?? usualSettings;
  const [isArranging, setArranging] = useState(false);
  const selection = useSelection(form.id, view);
  const total = table.data?.pagination.total_count;
  useTitle(`Submissions · ${form.name}`);

  const open = useCallback((id: string) => changeView({ open: id }), [changeView]);
  const team = useTeam(form);
  const isWide = useWide();
  // On small screens, pinned columns would fill the whole width.
  const pinned = isWide ? settings.pinned : 0;
  const { order: ownOrder, hidden } = settings;
  const arranged = useMemo(
    () => orderColumns(listMovableColumns(columns.data ?? [], team, isWide), ownOrder),
    [columns.data, team, isWide, ownOrder],
  );
  const shown = useMemo(() => arranged.filter(({ id }) => !hidden.includes(id)), [arranged, hidden]);
  const rows = table.data?.data ?? [];
  // Hides this column for rows that were loaded before the search, and for searches by status alone, which
  // have no matches in the text.
  const hasHits = rows.some(({ hits }) => hits.length > 0);
  const drawn = useMemo(
    () => [...shown.slice(0, pinned), ...(hasHits ? [foundColumn] : []), ...shown.slice(pinned)],
    [shown, pinned, hasHits],
  );
  const order = arranged.map((column) => column.id);
  const failed = table.error ?? columns.error;
  return (
    <div className="submissions">
      <div className="submissions-top">
        <div className="submissions-head">
          <h1 className="submissions-title" tabIndex={-1}>
            Submissions
            {total !== undefined && (
              <span className="submissions-count numeric" role="status">
                {total.toLocaleString()}
                <span className="unseen"> in this view</span>
              </span>
            )}
          </h1>
          <TableTools
            form={form}
            view={view}
            total={total}
            // The service does not know column changes of a view that are not saved.
            isArranged={hasChangedColumns(settings) && !viewColumns.areOther}
            hasFiles={(columns.data ?? []).some(({ type, inputs }) =>
              [type, ...inputs.map((input) => input.type)].some(takesFiles),
            )}
            mayWrite={mayEdit(form.role)}
            isTall={settings.is_tall}
            onTallChange={(isTall) => changeSettings({ is_tall: isTall })}
            onColumns={() => setArranging(true)}
          />
        </div>
        <ViewTabs
          form={form}
          view={view}
          columns={settings}
          areColumnsOther={viewColumns.areOther}
          mayEdit={mayEdit(form.role)}
          onChange={changeView}
          onForget={viewColumns.forget}
        />
        {(total !== 0 || isViewFiltered(view)) && (
          <Toolbar form={form} view={view} columns={columns.data ?? []} onChange={changeView} />
        )}
      </div>
      <div className="submissions-rest">
        <section className="submissions-main" aria-label="Table">
          <BulksProgress form={form} />
          {selection.ids.size > 0 && total !== undefined && (
            <BulkBar
              form={form}
              view={view}
              selected={selection.ids}
              total={total}
              onClear={selection.clear}
              onStart={(bulk) => addBulkChange(form, bulk)}
            />
          )}
          <SlowNote isWaiting={table.isPlaceholderData} />
          {failed && !(table.data && columns.data) ? (
            <ErrorState
              error={failed}
              onRetry={() => void Promise.all([table.refetch(), columns.refetch()])}
            />
          ) : !table.data || !columns.data || !loadedSettings ? (
            <Loading lines={8} label="Loading submissions…" />
          ) : rows.length === 0 ? (
            <Nothing
              isFiltered={isViewFiltered(view)}
              isPastEnd={total! > 0}
              form={form}
              q={view.q}
              publicUrl={form.public_url}
              isPublished={form.status === 'published'}
              onClear={() => changeView(unfilteredView)}
              onSearch={(q) => changeView({ q })}
            />
          ) : (
            <SubmissionsTable
              rows={rows}
              columns={drawn}
              sort={view.sort}
              onSort={(sort) => changeView({ sort })}
              pinned={Math.min(pinned, shown.length)}
              onPin={isWide ? (count) => changeSettings({ pinned: count }) : undefined}
              widths={settings.widths}
              isTall={settings.is_tall}
              isStale={table.isPlaceholderData}
              open={view.open}
              mayEdit={mayEdit(form.role)}
              selected={selection.ids}
              onSelect={selection.select}
              onSelectPage={(isSelected) =>
                selection.select(
                  rows.map((row) => row.id),
                  isSelected,
                )
              }
              onOpen={open}
              onMove={(id, target, place) => changeSettings({ order: moveColumn(order, id, target, place) })}
              onHide={(id) => changeSettings({ hidden: [...settings.hidden, id] })}
              onResize={(id, width) =>
                changeSettings({
                  widths: {
                    ...settings.widths,
                    [id]: Math.min(
                      columnWidthLimits.most,
                      Math.max(columnWidthLimits.least, Math.round(width)),
                    ),
                  },
                })
              }
            />
          )}
          {table.data && (
            <Pager
              label="Pages of submissions"
              page={view.page}
              pagination={table.data.pagination}
              onChange={(page) => changeView({ page })}
            />
          )}
        </section>
        {view.open && (
          <PanelContainer form={form} id={view.open} view={view} rows={rows} onChange={changeView} />
        )}
      </div>
      <ColumnsDialog
        isOpen={isArranging}
        onClose={() => setArranging(false)}
        columns={arranged}
        hidden={settings.hidden}
        onHiddenChange={(hidden) => changeSettings({ hidden })}
        onOrderChange={(changed) => changeSettings({ order: changed })}
        onReset={() => changeSettings({ ...usualSettings, is_tall: settings.is_tall })}
      />
    </div>
  );
}

type NothingProps = {
  form: FormLocation;
  q: string | undefined;
  isFiltered: boolean;
  isPastEnd: boolean;
  isPublished: boolean;
  publicUrl: string;
  onClear: () => void;
  onSearch: (q: string) => void;
};

function Nothing({
  form,
  q,
  isFiltered,
  isPastEnd,
  isPublished,
  publicUrl,
  onClear,
  onSearch,
}: NothingProps): ReactElement {
  const nearest = useQuery({ ...correctedSearchQuery(form, q), enabled: isFiltered && q !== undefined });
  if (isPastEnd)
    return (
      <EmptyState icon="table" title="This page is past the end">
        Use the arrows below to go back.
      </EmptyState>
    );
  if (isFiltered) {
    return (
      <EmptyState
        icon="search"
        title="No matches"
        action={<Button onPress={onClear}>Show all submissions</Button>}
      >
        <div className="stack-tight">
          <p>Try fewer words or filters, or another status or period.</p>
          {nearest.data && (
            <p>
              <Button icon="search" size="small" onPress={() => onSearch(nearest.data!)}>
                Search for “{nearest.data}”
              </Button>
            </p>
          )}
        </div>
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="table"
      title="No submissions yet"
      action={isPublished ? <CopyField label="Public link" text={publicUrl} /> : undefined}
    >
      <SpamNote form={form} />
      <p>
        {isPublished
          ? 'Share the form’s link, or submit the form yourself. Submissions appear here, where you can search, edit and export them.'
          : 'Publish this form to receive submissions.'}
      </p>
    </EmptyState>
  );
}

/**
 * Says whether submissions were held as spam while the person waits for the first one. Nothing else on this
 * screen would show them.
 */
function SpamNote({ form }: { form: FormLocation }): ReactElement | null {
  const spamCount = useQuery({ ...spamCountQuery(form), refetchInterval: firstSubmissionPollMs }).data;
  if (!spamCount) return null;
  return (
    <p>
      {formatCount(spamCount, 'submission is', 'submissions are')} held as spam.{' '}
      <Link to="/forms/$form/spam" params={{ form: form.id }}>
        {spamCount === 1 ? 'Review it' : 'Review them'}
      </Link>
    </p>
  );
}
