/** What the keyboard does in one place: how it is pressed, what that does in words, and the deed. */
export type Shortcut<Deed> = {
  /** Each way to press it, such as `Mod+Shift+z`. `Mod` is Ctrl, and the Command key of a Mac. */
  readonly presses: readonly string[];
  readonly label: string;
  readonly perform: Deed;
};

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

export const findPressed = <Found extends Pick<Shortcut<unknown>, 'presses'>>(
  shortcuts: readonly Found[],
  event: Pressed,
): Found | undefined => shortcuts.find(({ presses }) => presses.some((press) => isPressed(event, press)));

/** The keys of a press; a plus at its end is the key itself. */
const keysOf = (press: string): string[] => press.split(/\+(?=.)/);

/** Shift is looked at for letters and named keys: on which keyboards `/`, `+` and `?` need it is theirs. */
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

/** As it stands on the keys in front of the reader: `Ctrl+Shift+Z`, or `⌘⇧Z`. */
export function sayPress(press: string, isMac = /^Mac|^iP/.test(navigator.platform)): string {
  const words = keysOf(press).map(
    (key) => (isMac && macNames[key]) || names[key] || (key.length === 1 ? key.toUpperCase() : key),
  );
  return words.join(isMac ? '' : '+');
}
