/** A keyboard shortcut: its keys, its label and its action. */
export type Shortcut<Deed> = {
  /** All key combinations, such as `Mod+Shift+z`. `Mod` is Ctrl, or Command on a Mac. */
  readonly presses: readonly string[];
  readonly label: string;
  readonly perform: Deed;
};

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

export const findPressed = <Found extends Pick<Shortcut<unknown>, 'presses'>>(
  shortcuts: readonly Found[],
  event: Pressed,
): Found | undefined => shortcuts.find(({ presses }) => presses.some((press) => isPressed(event, press)));

/** Splits a combination into its keys. A plus sign at the end is itself a key. */
const keysOf = (press: string): string[] => press.split(/\+(?=.)/);

/**
 * Shift is checked only for letters and named keys, because whether `/`, `+` and `?` need it depends on the
 * keyboard.
 */
function isPressed(event: Pressed, press: string): boolean {
  const keys = keysOf(press);
  const key = keys.at(-1)!;
  return (
    event.key.toLowerCase() === key.toLowerCase() &&
    (event.ctrlKey || event.metaKey) === keys.includes('Mod') &&
    event.altKey === keys.includes('Alt') &&
    (!/^([a-z]|\w{2,})$/i.test(key) || event.shiftKey === keys.includes('Shift'))
  );
}

const names: Readonly<Record<string, string>> = {
  Mod: 'Ctrl',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ' ': 'Space',
  Escape: 'Esc',
};
const macNames: Readonly<Record<string, string>> = { Mod: '⌘', Alt: '⌥', Shift: '⇧' };

/** Formats a combination as on the reader's keyboard: `Ctrl+Shift+Z` or `⌘⇧Z`. */
export function formatKeys(press: string, isMac = /^Mac|^iP/.test(navigator.platform)): string {
  const words = keysOf(press).map(
    (key) => (isMac && macNames[key]) || names[key] || (key.length === 1 ? key.toUpperCase() : key),
  );
  return words.join(isMac ? '' : '+');
}
