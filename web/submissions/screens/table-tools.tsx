import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { formatCount } from '#ast/basics/format-number.ts';
import { download } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { Menu, type MenuAction } from '../../design/menu.tsx';
import { type FormLocation, readerLanguage, spamCountQuery } from '../queries.ts';
import { isViewFiltered, toListParameters, type ViewState } from '../view-state.ts';

const formats = [
  {
    id: 'xlsx',
    label: 'Excel workbook',
    description: 'Longer answers are cut at 32,767 characters',
    asks: { format: 'xlsx' },
  },
  { id: 'csv', label: 'CSV, raw', description: 'Unchanged text, for programs', asks: { format: 'csv' } },
  {
    id: 'csv-spreadsheet',
    label: 'CSV, safe for spreadsheets',
    description: 'Adds an apostrophe before possible formulas',
    asks: { format: 'csv', for: 'spreadsheets' },
  },
  { id: 'ndjson', label: 'NDJSON', description: 'One JSON object per line', asks: { format: 'ndjson' } },
] as const;

type ExportChoice = (typeof formats)[number]['asks'] & { columns: 'all' | 'shown' };

type ExportProps = {
  form: FormLocation;
  view: ViewState;
  total: number | undefined;
  /** Whether the person's table has other columns than the form, or another column order. */
  isArranged: boolean;
  /** Whether the form asks for files or signatures. */
  hasFiles: boolean;
};

/** Exports all submissions that match the filter, with all columns or only the visible ones. */
function ExportMenu({ form, view, total, isArranged, hasFiles }: ExportProps): ReactElement {
  const what = isViewFiltered(view)
    ? `the ${total === undefined ? 'submissions' : formatCount(total, 'submission')} in this view`
    : 'all submissions';
  const save = useAction({
    run: (choice: ExportChoice) =>
      download(form.workspace_id, 'exportFormSubmissions', {
        params: { id: form.id },
        query: {
          ...toListParameters(view),
          ...readerLanguage(),
          ...choice,
          ...(view.saved !== undefined && choice.columns === 'shown' && { view: view.saved }),
        },
      }),
    problem: 'toast',
  });
  const saveFiles = useAction({
    run: () =>
      download(form.workspace_id, 'exportFormFiles', {
        params: { id: form.id },
        query: toListParameters(view),
      }),
    problem: 'toast',
  });
  const itemsOf = (columns: 'all' | 'shown'): MenuAction[] =>
    formats.map(({ id, label, description, asks }) => ({
      id: `${id} ${columns}`,
      label,
      description,
      onAction: () => save.start({ ...asks, columns }),
    }));
  return (
    <Menu
      items={[
        { id: 'all', heading: `Download ${what}`, items: itemsOf('all') },
        ...(isArranged
          ? [{ id: 'shown', heading: 'Only visible columns, in their order', items: itemsOf('shown') }]
          : []),
        ...(hasFiles
          ? [
              {
                id: 'files',
                heading: 'Uploaded files',
                items: [
                  {
                    id: 'zip',
                    label: 'ZIP archive',
                    description: 'A folder for each submission',
                    onAction: () => saveFiles.start(),
                  },
                ],
              },
            ]
          : []),
      ]}
    >
      <Button icon="download" isDisabled={total === 0} isPending={save.isPending || saveFiles.isPending}>
        Export
      </Button>
    </Menu>
  );
}

type Props = {
  form: FormLocation;
  view: ViewState;
  total: number | undefined;
  isArranged: boolean;
  hasFiles: boolean;
  /** Whether the person may create submissions. */
  mayWrite: boolean;
  isTall: boolean;
  onTallChange: (isTall: boolean) => void;
  onColumns: () => void;
};

/** The tools of the table: row height, columns, links to spam, trash and import, and export. */
export function TableTools({
  form,
  view,
  total,
  isArranged,
  hasFiles,
  mayWrite,
  isTall,
  onTallChange,
  onColumns,
}: Props): ReactElement {
  const spamCount = useQuery(spamCountQuery(form)).data;
  return (
    <div className="table-tools">
      <IconButton
        icon="steps"
        label={isTall ? 'Show one line per row' : 'Show several lines per row'}
        aria-pressed={isTall}
        onPress={() => onTallChange(!isTall)}
      />
      <IconButton icon="columns" label="Columns" onPress={onColumns} />
      <Link to="/forms/$form/spam" params={{ form: form.id }} className="button button-quiet table-place">
        <Icon name="warning" /> Spam{spamCount ? ` (${spamCount.toLocaleString()})` : ''}
      </Link>
      <Link to="/forms/$form/trash" params={{ form: form.id }} className="button button-quiet table-place">
        <Icon name="remove" /> Trash
      </Link>
      {mayWrite && (
        <Link to="/forms/$form/import" params={{ form: form.id }} className="button button-quiet table-place">
          <Icon name="file" /> Import
        </Link>
      )}
      <ExportMenu form={form} view={view} total={total} isArranged={isArranged} hasFiles={hasFiles} />
    </div>
  );
}
