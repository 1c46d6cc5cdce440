import type { ReactElement } from 'react';
import { IconButton } from '../design/button.tsx';
import { rowsOfPage } from './queries.ts';

/** Which part of the view the table shows, and the way to the others. */
export function Pager({
  page,
  total,
  onChange,
}: {
  page: number;
  total: number;
  onChange: (page: number) => void;
}): ReactElement | null {
  const pages = Math.max(1, Math.ceil(total / rowsOfPage));
  if (pages === 1 && page === 1) return null;
  const first = (page - 1) * rowsOfPage + 1;
  const say = (number: number): string => number.toLocaleString();
  return (
    <nav className="pager" aria-label="Pages of submissions">
      <span className="soft small numeric">
        {first > total ? 'Past the end' : `${say(first)} – ${say(Math.min(total, page * rowsOfPage))}`} of{' '}
        {say(total)}
      </span>
      <IconButton
        icon="back"
        label="Previous page"
        isDisabled={page === 1}
        onPress={() => onChange(Math.min(page - 1, pages))}
      />
      <IconButton
        icon="chevron-end"
        label="Next page"
        isDisabled={page >= pages}
        onPress={() => onChange(page + 1)}
      />
    </nav>
  );
}
