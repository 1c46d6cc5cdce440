import './pager.css';
import type { ReactElement } from 'react';
import { IconButton } from './button.tsx';

/**
 * Shows which part of a list is visible, with buttons to the other pages. Renders nothing for a single page.
 */
export function Pager({
  label,
  pagination: { page: shown, per_page: perPage, total_count: total },
  page = shown,
  onChange,
}: {
  /** What the pages contain: "Pages of submissions". */
  label: string;
  /** Describes the visible rows, which stay until the requested page has loaded. */
  pagination: { page: number; per_page: number; total_count: number };
  /** The requested page, counted from 1. */
  page?: number;
  onChange: (page: number) => void;
}): ReactElement | null {
  const pages = Math.max(1, Math.ceil(total / perPage));
  if (pages === 1 && page === 1) return null;
  const first = (shown - 1) * perPage + 1;
  const format = (number: number): string => number.toLocaleString();
  return (
    <nav className="pager" aria-label={label}>
      <span className="soft small numeric">
        {first > total ? 'Past the end' : `${format(first)}–${format(Math.min(total, shown * perPage))}`} of{' '}
        {format(total)}
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
