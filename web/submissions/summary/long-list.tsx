import type { ReactElement } from 'react';
import type { ElementSummary } from '#submissions/shapes.ts';

const mostFirst = 10;

/** The number of bars to show at first: in a list that is sorted by count, the most frequent ones. */
export const countFirst = ({ order, bars }: Pick<ElementSummary, 'order' | 'bars'>): number =>
  order === 'count' ? Math.min(mostFirst, bars.filter(({ count }) => count > 0).length) : bars.length;

/** Shows the first items of a list, and the others on request. */
export function LongList<Item>({
  label,
  items,
  first,
  draw,
}: {
  label: string;
  items: readonly Item[];
  first: number;
  draw: (items: readonly Item[]) => ReactElement;
}): ReactElement {
  const others = items.slice(first);
  if (others.length === 0) return draw(items);
  return (
    <>
      {draw(items.slice(0, first))}
      <details className="data-details">
        <summary>
          Show {others.length.toLocaleString()} more<span className="unseen">: {label}</span>
        </summary>
        {draw(others)}
      </details>
    </>
  );
}
