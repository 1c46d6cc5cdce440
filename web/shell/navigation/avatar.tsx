import type { ReactElement } from 'react';

/** The first letters of a name, as a picture of whoever or whatever bears it. */
export function Avatar({ name, isSquare = false }: { name: string; isSquare?: boolean }): ReactElement {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => Array.from(word ?? '')[0] ?? '')
    .join('');
  return (
    <span className={`avatar${isSquare ? ' avatar-square' : ''}`} aria-hidden="true">
      {letters.toUpperCase()}
    </span>
  );
}
