import { useSyncExternalStore } from 'react';
import { usePrefersDark } from '../design/use-window.ts';

export type ConsoleTheme = 'system' | 'light' | 'dark';

/** The themes to choose from, with their labels. */
export const consoleThemes: readonly { id: ConsoleTheme; label: string }[] = [
  { id: 'system', label: 'Match system' },
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
];

/** The local storage key. public/theme.js reads it before the first paint. */
const key = 'formloom.theme';
const listeners = new Set<() => void>();

function readTheme(): ConsoleTheme {
  const chosen = document.documentElement.dataset['theme'];
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system';
}

/** Sets the theme in this browser. */
export function setConsoleTheme(theme: ConsoleTheme): void {
  if (theme === 'system') {
    delete document.documentElement.dataset['theme'];
    localStorage.removeItem(key);
  } else {
    document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(key, theme);
  }
  for (const listener of listeners) listener();
}

export function useConsoleTheme(): ConsoleTheme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, readTheme);
}

/** Returns the active color scheme: the chosen one, or otherwise the system's. */
export function useColorScheme(): 'light' | 'dark' {
  const theme = useConsoleTheme();
  const isDark = usePrefersDark();
  return theme === 'system' ? (isDark ? 'dark' : 'light') : theme;
}
