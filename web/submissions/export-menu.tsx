import type { ReactElement } from 'react';
import { query } from '../api/client.ts';
import { Button } from '../design/button.tsx';
import { Menu } from '../design/menu.tsx';
import { type FormPlace, submissionsPath } from './queries.ts';
import { filterOf, isFiltered, type ViewState } from './view-state.ts';

/** Downloads the view as a file: every submission of the filter, every column of the form. */
export function ExportMenu({
  form,
  view,
  total,
}: {
  form: FormPlace;
  view: ViewState;
  total: number | undefined;
}): ReactElement {
  const what = isFiltered(view) ? `the ${total ?? ''} submissions of this view` : 'all submissions';
  const save = (parameters: Record<string, string>): void =>
    download(`/app/api${submissionsPath(form)}/export${query({ ...filterOf(view), ...parameters })}`);
  return (
    <Menu
      label="Export"
      items={[
        {
          id: 'what',
          heading: `Download ${what}`,
          items: [
            {
              id: 'xlsx',
              label: 'Excel workbook',
              description: '.xlsx',
              onAction: () => save({ format: 'xlsx' }),
            },
            {
              id: 'csv',
              label: 'CSV',
              description: 'UTF-8, for programs',
              onAction: () => save({ format: 'csv' }),
            },
            {
              id: 'csv-bom',
              label: 'CSV for Excel',
              description: 'UTF-8 with a byte order mark',
              onAction: () => save({ format: 'csv', bom: 'yes' }),
            },
          ],
        },
      ]}
    >
      <Button icon="download" isDisabled={total === 0}>
        Export
      </Button>
    </Menu>
  );
}

/** The browser saves it while it comes; the page stays. */
function download(address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
}
