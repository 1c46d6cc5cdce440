import type { ReactElement, ReactNode } from 'react';
import { Dialog } from '../design/dialog.tsx';
import { useNarrow } from '../design/use-window.ts';

type PaneProps = {
  readonly side: 'start' | 'end';
  readonly title: string;
  /** In a narrow window: whether it is asked for. */
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/** What stands beside the canvas; in a narrow window a sheet over it. */
export function Pane({ side, title, isOpen, onClose, children }: PaneProps): ReactElement {
  if (useNarrow())
    return (
      <Dialog title={title} isOpen={isOpen} onClose={onClose} size="medium" keepsText>
        {children}
      </Dialog>
    );
  return (
    <aside className={`pane pane-${side}`} aria-label={title}>
      {children}
    </aside>
  );
}
