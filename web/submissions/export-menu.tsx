import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { download } from '../api/operations.ts';
import { Button } from '../design/button.tsx';
import { Menu, type MenuAction } from '../design/menu.tsx';
import { toastProblem } from '../design/toast.tsx';
import { type FormPlace, readerLanguage } from './queries.ts';
import { isFiltered, orderedBy, type ViewState } from './view-state.ts';

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

type Props = {
  form: FormPlace;
  view: ViewState;
  total: number | undefined;
  /** Whether the person's table shows other columns, or in another order, than the form has. */
  isArranged: boolean;
};

/** Downloads the view as a file: every submission of the filter, with all columns or with those of the table. */
export function ExportMenu({ form, view, total, isArranged }: Props): ReactElement {
  const what = isFiltered(view) ? `the ${total ?? ''} submissions of this view` : 'all submissions';
  const { mutate: save, isPending } = useMutation({
    mutationFn: (asked: Asked) =>
      download(form.workspace_id, 'exportFormSubmissions', {
        params: { id: form.id },
        query: {
          ...orderedBy(view),
          language: readerLanguage(),
          ...asked,
          ...(view.saved !== undefined && asked.columns === 'shown' && { view: view.saved }),
        },
      }),
    onError: toastProblem,
  });
  const itemsOf = (columns: 'all' | 'shown'): MenuAction[] =>
    formats.map(({ id, label, description, asks }) => ({
      id: `${id} ${columns}`,
      label,
      description,
      onAction: () => save({ ...asks, columns }),
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
      <Button icon="download" isDisabled={total === 0} isPending={isPending}>
        Export
      </Button>
    </Menu>
  );
}
