import type { ReactElement } from 'react';
import type { PaletteEntry } from '../model/ready-groups.ts';
import { iconOfEntry } from './element-groups.ts';

/** The picture of a type beside its name: hidden from screen readers. */
export function ElementIcon({ type }: { type: PaletteEntry }): ReactElement {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={iconOfEntry(type)} />
    </svg>
  );
}
