import type { ReactElement } from 'react';
import { elements, type ElementType } from '#ast/elements.ts';

/** The picture of a type beside its name: hidden from screen readers. */
export function ElementIcon({ type }: { type: ElementType }): ReactElement {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={elements[type].icon} />
    </svg>
  );
}
