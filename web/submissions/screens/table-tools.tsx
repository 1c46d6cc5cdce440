import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { download } from '../../api/operations.ts';
import { useAction } from '../../design/action.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { Menu, type MenuAction } from '../../design/menu.tsx';
import { type FormPlace, readerLanguage, spamCountQuery } from '../queries.ts';
import { isFiltered, orderedBy, type ViewState } from '../view-state.ts';

const formats = [
  {
    id: 'xlsx',
    label: 'Excel workbook',
    description: 'Answers of up to 32,767 characters',
    asks: { format: 'xlsx' },
  },
  { id: 'csv', label: 'CSV', description: 'For programs: texts as they are', asks: { format: 'csv' } },
  {
    id: 'csv-spreadsheet',
    label: 'CSV for spreadsheets',
    description: 'An apostrophe before what could be a formula',
    asks: { format: 'csv', for: 'spreadsheets' },
  },
  { id: 'ndjson', label: 'NDJSON', description: 'A line of JSON each', asks: { format: 'ndjson' } },
] as const;

type Asked = (typeof formats)[number]['asks'] & { columns: 'all' | 'shown' };

type ExportProps = {
  form: FormPlace;
  view: ViewState;
  total: number | undefined;
  /** Whether the person's table shows other columns, or in another order, than the form has. */
  isArranged: boolean;
};

/** Downloads the view as a file: every submission of the filter, with all columns or with those of the table. */
function ExportMenu({ form, view, total, isArranged }: ExportProps): ReactElement {
  const what = isFiltered(view) ? `the ${total ?? ''} submissions of this view` : 'all submissions';
  const save = useAction({
    run: (asked: Asked) =>
      download(form.workspace_id, 'exportFormSubmissions', {
        params: { id: form.id },
        query: {
          ...orderedBy(view),
          language: readerLanguage(),
          ...asked,
          ...(view.saved !== undefined && asked.columns === 'shown' && { view: view.saved }),
        },
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
          ? [{ id: 'shown', heading: 'Only the columns shown, in their order', items: itemsOf('shown') }]
          : []),
      ]}
    >
      <Button icon="download" isDisabled={total === 0} isPending={save.isPending}>
        Export
      </Button>
    </Menu>
  );
}

type Props = {
  form: FormPlace;
  view: ViewState;
  total: number | undefined;
  isArranged: boolean;
  /** Whether the person may make submissions. */
  mayWrite: boolean;
  isTall: boolean;
  onTallChange: (isTall: boolean) => void;
  onColumns: () => void;
};

/** How the table looks, what lies beside it, and what is done with all of it. */
export function TableTools({
  form,
  view,
  total,
  isArranged,
  mayWrite,
  isTall,
  onTallChange,
  onColumns,
}: Props): ReactElement {
  const held = useQuery(spamCountQuery(form)).data;
  return (
    <div className="table-tools">
      <IconButton
        icon="steps"
        label={isTall ? 'Rows of one line' : 'Rows of several lines'}
        aria-pressed={isTall}
        onPress={() => onTallChange(!isTall)}
      />
      <IconButton icon="columns" label="Columns" onPress={onColumns} />
      <Link to="/forms/$form/spam" params={{ form: form.id }} className="button button-quiet table-place">
        <Icon name="warning" /> Spam{held ? ` (${held.toLocaleString()})` : ''}
      </Link>
      <Link to="/forms/$form/trash" params={{ form: form.id }} className="button button-quiet table-place">
        <Icon name="remove" /> Trash
      </Link>
      {mayWrite && (
        <Link to="/forms/$form/import" params={{ form: form.id }} className="button button-quiet table-place">
          <Icon name="file" /> Import
        </Link>
      )}
      <ExportMenu form={form} view={view} total={total} isArranged={isArranged} />
    </div>
  );
}
