import './pager.css';
import type { ReactElement } from 'react';
import { IconButton } from './button.tsx';

/** Which part of a list is shown, and the way to the others; nothing while there is one page. */
export function Pager({
  label,
  pagination: { page: shown, per_page: perPage, total_count: total },
  page = shown,
  onChange,
}: {
  /** What it leads through: "Pages of submissions". */
  label: string;
  /** Of the rows, which stay until those that are asked for have come. */
  pagination: { page: number; per_page: number; total_count: number };
  /** That is asked for, from 1. */
  page?: number;
  onChange: (page: number) => void;
}): ReactElement | null {
  const pages = Math.max(1, Math.ceil(total / perPage));
  if (pages === 1 && page === 1) return null;
  const first = (shown - 1) * perPage + 1;
  const say = (number: number): string => number.toLocaleString();
  return (
    <nav className="pager" aria-label={label}>
      <span className="soft small numeric">
        {first > total ? 'Past the end' : `${say(first)} – ${say(Math.min(total, shown * perPage))}`} of{' '}
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
