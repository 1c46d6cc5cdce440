import type { ReactElement } from 'react';
import { Dialog } from '../../design/dialog.tsx';
import { consoleShortcuts } from '../../shell/finder-frame.tsx';
import { formatKeys, type Shortcut } from '../../shell/keyboard-shortcuts.ts';
import { globalCommands, liftedNodeCommands, nodeCommands } from './builder-commands.ts';

type Listed = Pick<Shortcut<unknown>, 'presses' | 'label'>;
const lists: readonly { title: string; shortcuts: readonly Listed[] }[] = [
  { title: 'Anywhere', shortcuts: [...Object.values<Listed>(globalCommands), ...consoleShortcuts] },
  {
    title: 'For the selection',
    shortcuts: Object.values<Listed>(nodeCommands).filter(({ presses }) => presses.length > 0),
  },
  { title: 'While moving', shortcuts: Object.values<Listed>(liftedNodeCommands) },
];

/** Lists all keyboard shortcuts of the builder, from the tables that define them. */
export function ShortcutsDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactElement {
  return (
    <Dialog title="Keyboard shortcuts" isOpen={isOpen} onClose={onClose}>
      {lists.map(({ title, shortcuts }) => (
        // Focusable, so that the arrow keys scroll a long list.
        <section key={title} className="shortcuts" aria-label={title} tabIndex={0}>
          <h3>{title}</h3>
          <dl>
            {shortcuts.map(({ label, presses }) => (
              <div key={label} className="shortcut">
                <dt>{label}</dt>
                <dd>
                  {presses.map((press) => (
                    <kbd key={press}>{formatKeys(press)}</kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
