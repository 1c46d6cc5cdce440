import type { ReactElement } from 'react';
import type { Bar, ElementSummary } from '#submissions/shapes.ts';
import { barCondition, SubmissionsLink } from './bar-links.tsx';
import { percent } from './charts.tsx';

/** Two options can have the same label. */
const optionOf = ({ option, label }: Bar): string => option ?? label;

/** Shows how often each option was chosen in each row of a matrix. More answers give a darker cell. */
export function MatrixTable({ element }: { element: ElementSummary }): ReactElement {
  const { rows = [], label } = element;
  // A row includes a removed option only if the option was chosen in that row.
  const heads = new Map(rows.flatMap(({ bars }) => bars.map((bar) => [optionOf(bar), bar.label])));
  return (
    <div className="data-table" role="region" aria-label={`Counts of ${label}`} tabIndex={0}>
      <table className="summary-grid">
        <thead>
          <tr>
            <td />
            {[...heads].map(([option, head]) => (
              <th key={option} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row">{row.label}</th>
              {[...heads].map(([option, label]) => {
                const bar = row.bars.find((bar) => optionOf(bar) === option) ?? { label, count: 0 };
                const share = row.answered === 0 ? 0 : bar.count / row.answered;
                const tint = `color-mix(in oklab, var(--accent) ${Math.round(share * 36)}%, transparent)`;
                const condition = barCondition(element, bar, row.id);
                const said = bar.count.toLocaleString();
                return (
                  <td key={option} style={{ background: tint }}>
                    {condition ? (
                      <SubmissionsLink narrowed={{ where: [condition] }}>{said}</SubmissionsLink>
                    ) : (
                      said
                    )}{' '}
                    <span className="small">({percent.format(share)})</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
