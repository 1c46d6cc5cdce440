import './icon.css';
import type { ReactElement } from 'react';
import paths from './icon-paths.json' with { type: 'json' };

/** The name of an icon. All icons have a grid of 20 by 20 and a stroke width of 1.6, so that they match at any size. */
export type IconName = keyof typeof paths;

/** Dots are lines of zero length, so they need a thicker stroke. */
const isDots = (name: IconName): boolean => name === 'more' || name === 'drag';

/** Renders an icon, hidden from screen readers. It is as large as the text beside it unless `size` (in px) is set. */
export function Icon({ name, size }: { name: IconName; size?: number }): ReactElement {
  return (
    <svg
      className="icon"
      viewBox="0 0 20 20"
      aria-hidden="true"
      focusable="false"
      style={size ? { inlineSize: size, blockSize: size } : undefined}
    >
      <path d={paths[name]} className={isDots(name) ? 'icon-dots' : undefined} />
    </svg>
  );
}

/** Renders the logo of Formloom: two threads woven through three. */
export function Logo({ size = 24 }: { size?: number }): ReactElement {
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect className="logo-ground" width="32" height="32" rx="8" />
      <path className="logo-warp" d="M9 8v16M16 8v16M23 8v16" />
      <path className="logo-weft" d="M7 12h4M14 12h11M7 20h11M21 20h4" />
    </svg>
  );
}
