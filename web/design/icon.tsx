import './icon.css';
import type { ReactElement } from 'react';

/** Icons on a 20 by 20 grid with a stroke width of 1.6, so that they look consistent at any size. */
const paths = {
  add: 'M10 4v12M4 10h12',
  archive: 'M3 5h14v3H3zM4.5 8v7.5h11V8M8 11h4',
  'arrow-down': 'M10 4v12M5.5 11.5 10 16l4.5-4.5',
  'arrow-up': 'M10 16V4M5.5 8.5 10 4l4.5 4.5',
  back: 'M12 4.5 6.5 10l5.5 5.5',
  bold: 'M6 4h5a3 3 0 0 1 0 6H6zM6 10h6a3 3 0 0 1 0 6H6z',
  check: 'm4 10.5 4 4 8-9',
  'chevron-down': 'm5 7.5 5 5 5-5',
  'chevron-end': 'm7.5 5 5 5-5 5',
  'chevron-up': 'm5 12.5 5-5 5 5',
  clock: 'M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14M10 6.5V10l2.5 1.5',
  close: 'm5 5 10 10M15 5 5 15',
  columns: 'M3.5 4h13v12h-13zM8 4v12M12.5 4v12',
  copy: 'M7.5 7.5h9v9h-9zM12.5 7.5v-4h-9v9h4',
  desktop: 'M3 4h14v9H3zM7 16.5h6M10 13v3.5',
  download: 'M10 3.5v9m-3.5-3.5L10 12.5 13.5 9M4 16.5h12',
  drag: 'M7.5 5h.01M12.5 5h.01M7.5 10h.01M12.5 10h.01M7.5 15h.01M12.5 15h.01',
  edit: 'M4 16l.8-3.2L13 4.6l2.4 2.4-8.2 8.2zM11.5 6.1l2.4 2.4',
  error: 'M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14M10 6.5v4M10 13.4v.1',
  external: 'M8 5H4.5v10.5H15V12M11 4h5v5M16 4l-7 7',
  eye: 'M2.5 10S5 5 10 5s7.5 5 7.5 5-2.5 5-7.5 5-7.5-5-7.5-5M10 8a2 2 0 1 1 0 4 2 2 0 0 1 0-4',
  file: 'M5 3h6.5L15 6.5V17H5zM11 3v4h4',
  filter: 'M3.5 5.5h13M6 10h8M8.5 14.5h3',
  form: 'M4.5 3h11v14h-11zM7.5 7h5M7.5 10.5h5M7.5 14h2.5',
  globe: 'M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14M3 10h14M10 3c-4.5 4.5-4.5 9.5 0 14 4.5-4.5 4.5-9.5 0-14',
  history: 'M4 5v3.5h3.5M4.2 8.3A6.4 6.4 0 1 1 3.6 11M10 7v3.5l2.3 1.4',
  image: 'M3 4h14v12H3zM3 13.5l4-4 3.5 3.5 2.5-2.5 4 4M12.8 7.6v.1',
  info: 'M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14M10 9.2V13.5M10 6.6v.1',
  italic: 'M8.5 4h6M5.5 16h6M11.5 4l-3 12',
  key: 'M12.5 3.5a4 4 0 1 1-3.6 5.7L3.5 14.6V17H6v-1.8h1.8v-1.9l2.4-2.4M13.6 6.4v.1',
  link: 'M8.5 11.5a3 3 0 0 0 4.3 0l2.6-2.6a3 3 0 0 0-4.3-4.3l-1 1M11.5 8.5a3 3 0 0 0-4.3 0l-2.6 2.6a3 3 0 0 0 4.3 4.3l1-1',
  mail: 'M3 4.5h14v11H3zM3.5 5.5 10 11l6.5-5.5',
  menu: 'M3.5 5.5h13M3.5 10h13M3.5 14.5h13',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  pause: 'M7 4.5v11M13 4.5v11',
  people:
    'M7.5 4.5a2.7 2.7 0 1 1 0 5.4 2.7 2.7 0 0 1 0-5.4M2.5 16c.3-2.7 2.4-4 5-4s4.7 1.3 5 4M13 5a2.5 2.5 0 0 1 0 4.7M14.5 12.3c1.7.5 2.8 1.7 3 3.7',
  phone: 'M6 2.5h8v15H6zM9 15h2',
  play: 'M6.5 4.5v11l9-5.5z',
  redo: 'M15.5 8.5H8a4 4 0 0 0 0 8h4M12.5 5.5l3 3-3 3',
  refresh: 'M16 6v3.5h-3.5M15.8 9.3A6 6 0 1 0 16 11.5',
  remove: 'M4 5.5h12M8 5.5V3.5h4v2M5.5 5.5 6.3 17h7.4l.8-11.5M8.5 8.5v5.5M11.5 8.5v5.5',
  required: 'M10 4v12M4.8 7l10.4 6M15.2 7 4.8 13',
  search: 'M9 3.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M13 13l4 4',
  send: 'M17 3 9 11M17 3l-5 14-3-6-6-3z',
  settings: 'M4 6h6M14 6h2M4 14h2M10 14h6M12 4v4M8 12v4',
  share: 'M10 12.5v-9M6.5 6.5 10 3l3.5 3.5M4 10.5V16.5h12v-6',
  'sign-out': 'M12 4H4.5v12H12M8 10h9m-3-3 3 3-3 3',
  steps: 'M3.5 4.5h13v4h-13zM3.5 11.5h13v4h-13z',
  summary: 'M4 16.5V10M8 16.5v-13M12 16.5V8M16 16.5V5.5',
  table: 'M3.5 4h13v12h-13zM3.5 8h13M3.5 12h13M9 8v8',
  theme: 'M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14M10 3v14',
  undo: 'M4.5 8.5H12a4 4 0 0 1 0 8H8M7.5 5.5l-3 3 3 3',
  warning: 'M10 3.5 17.5 16.5h-15zM10 8v4M10 14.2v.1',
  webhook:
    'M10 3.5a3 3 0 0 1 2.6 4.5l2.4 4M10 6.5 6.5 12.5M5.5 11a3 3 0 1 0 3 3h6M14.5 11.5a3 3 0 1 1-2.5 4.5',
} as const satisfies Record<string, string>;

export type IconName = keyof typeof paths;

/** Dots are lines of zero length, so they need a thicker stroke. */
const isDots = (name: IconName): boolean => name === 'more' || name === 'drag';

/**
 * An icon next to text, hidden from screen readers. It is as large as the text unless `size` (in px) is set.
 */
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

/** Formloom's logo: threads with a weft running through them. */
export function Logo({ size = 24 }: { size?: number }): ReactElement {
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect className="logo-ground" width="32" height="32" rx="8" />
      <path className="logo-warp" d="M9 8v16M16 8v16M23 8v16" />
      <path className="logo-weft" d="M7 12h4M14 12h11M7 20h11M21 20h4" />
    </svg>
  );
}
