import type { ReactElement, ReactNode } from 'react';

/** The numbers of a chart as a table, behind a line that opens it. The first cell of a row names it. */
export function DataDetails({
  caption,
  heads,
  rows,
}: {
  caption: string;
  heads: readonly string[];
  rows: readonly (readonly [name: ReactNode, ...numbers: number[]])[];
}): ReactElement {
  return (
    <details className="data-details">
      <summary>
        Show as a table<span className="unseen">: {caption}</span>
      </summary>
      <div className="data-table" role="region" aria-label={caption} tabIndex={0}>
        <table className="table">
          <thead>
            <tr>
              {heads.map((head, index) => (
                <th key={head} scope="col" className={index > 0 ? 'table-number' : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, ...numbers], place) => (
              <tr key={place}>
                <th scope="row">{name}</th>
                {numbers.map((number, index) => (
                  <td key={heads[index + 1]} className="table-number">
                    {number.toLocaleString()}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
