import './table.css';
import type { ReactElement, ReactNode } from 'react';

export type TableColumn<Row> = {
  id: string;
  title: ReactNode;
  /** Aligns numbers to the end of the column. */
  isNumeric?: boolean;
  /** Hides the column below 640 px. */
  isSecondary?: boolean;
  cell: (row: Row) => ReactNode;
};

type DataTableProps<Row> = {
  /** The content of the table, for screen readers. */
  label: string;
  /** The columns. The first one is the header of each row. */
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  rowId: (row: Row) => string;
  className?: string;
};

/** A plain table in a card. Use react-aria's Table for sorting, resizing or selection. */
export function DataTable<Row>({
  label,
  columns,
  rows,
  rowId,
  className = '',
}: DataTableProps<Row>): ReactElement {
  return (
    <div className={`card table-card ${className}`} role="region" aria-label={label} tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowId(row)}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.id} scope="row" className={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.id} className={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const classOf = ({
  isNumeric,
  isSecondary,
}: {
  isNumeric?: boolean;
  isSecondary?: boolean;
}): string | undefined =>
  [isNumeric && 'table-number', isSecondary && 'table-secondary'].filter(Boolean).join(' ') || undefined;
