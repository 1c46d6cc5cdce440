import type { ReactElement } from 'react';
import { Button } from '../design/button.tsx';

type Props = {
  pagination: { page: number; per_page: number; total_count: number; total_pages: number };
  onPage: (page: number) => void;
};

/** From one page of the list to the next; nothing where all is on one. */
export function FormsPages({ pagination, onPage }: Props): ReactElement | null {
  const { page, per_page, total_count, total_pages } = pagination;
  if (total_pages <= 1) return null;
  const first = (page - 1) * per_page + 1;
  return (
    <nav className="spread" aria-label="Pages">
      <span className="soft small numeric">
        {first}–{Math.min(total_count, page * per_page)} of {total_count}
      </span>
      <div className="row">
        <Button size="small" isDisabled={page <= 1} onPress={() => onPage(page - 1)}>
          Previous
        </Button>
        <Button size="small" isDisabled={page >= total_pages} onPress={() => onPage(page + 1)}>
          Next
        </Button>
      </div>
    </nav>
  );
}
