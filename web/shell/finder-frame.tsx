import './finder.css';
import {
  createContext,
  lazy,
  type ReactElement,
  type ReactNode,
  Suspense,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import { Button, IconButton } from '../design/button.tsx';
import { type FinderActions, FinderActionsContext } from './finder-actions.ts';
import { findPressed, formatKeys, type Shortcut } from './keyboard-shortcuts.ts';

const Finder = lazy(async () => ({ default: (await import('./finder.tsx')).Finder }));

const OpenFinder = createContext<() => void>(() => undefined);

/** Keyboard shortcuts that work on every screen, even in dialogs and text fields. */
export const consoleShortcuts: readonly Shortcut<(open: () => void) => void>[] = [
  { presses: ['Mod+k'], label: 'Search forms, submissions and settings', perform: (open) => open() },
];
const press = consoleShortcuts[0]!.presses[0]!;

/** Provides the finder to the screens inside it, by keyboard shortcut and by the buttons below. */
export function FinderFrame({ children }: { children: ReactNode }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const offers = useRef<(() => FinderActions) | undefined>(undefined);
  useEffect(() => {
    const handleKey = (event: KeyboardEvent): void => {
      const shortcut = findPressed(consoleShortcuts, event);
      // Another dialog is open.
      if (!shortcut || document.querySelector('.dialog-veil, .finder-veil')) return;
      event.preventDefault();
      shortcut.perform(() => setOpen(true));
    };
    // Listens in the capture phase, so that it runs before a canvas or text box handles the key.
    addEventListener('keydown', handleKey, { capture: true });
    return () => removeEventListener('keydown', handleKey, { capture: true });
  }, []);
  return (
    <OpenFinder value={() => setOpen(true)}>
      <FinderActionsContext value={offers}>{children}</FinderActionsContext>
      {isOpen && (
        <Suspense>
          <Finder offered={offers.current?.()} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </OpenFinder>
  );
}

/** Opens the finder and shows its keyboard shortcut. */
export function FinderButton(): ReactElement {
  return (
    <Button icon="search" onPress={useContext(OpenFinder)}>
      <span className="finder-button">
        Search
        <kbd aria-hidden>{formatKeys(press)}</kbd>
      </span>
    </Button>
  );
}

/** Opens the finder, for small screens. */
export const FinderIcon = (): ReactElement => (
  <IconButton icon="search" label="Search" onPress={useContext(OpenFinder)} />
);
