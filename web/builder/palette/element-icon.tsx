import type { ReactElement } from 'react';
import type { ElementType } from '#ast/elements.ts';

/** A picture of each element type, drawn on 20 by 20 like the design's icons. */
const paths: Readonly<Record<ElementType, string>> = {
  text: 'M3 6.5h14v7H3zM6 9v2',
  textarea: 'M3 4h14v12H3zM6 7.5h8M6 10h8M6 12.5h5',
  email: 'M3 5h14v10H3zM3 5.5l7 5.5 7-5.5',
  phone: 'M6 2.5h8v15H6zM9 15h2',
  url: 'M8.5 11.5a3 3 0 0 0 4.3 0l2.6-2.6a3 3 0 0 0-4.3-4.3l-1 1M11.5 8.5a3 3 0 0 0-4.3 0l-2.6 2.6a3 3 0 0 0 4.3 4.3l1-1',
  number: 'M8 3.5 6.5 16.5M13.5 3.5 12 16.5M4 7.5h13M3 12.5h13',
  date: 'M3.5 4.5h13v12h-13zM3.5 8.5h13M7 2.5v3M13 2.5v3',
  time: 'M10 3a7 7 0 1 1 0 14 7 7 0 0 1 0-14M10 6.5V10l2.5 1.5',
  datetime:
    'M9 16.5H3.5v-12h13V9M3.5 8.5h13M7 2.5v3M13 2.5v3M14 11a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7M14 13v1.5l1 .8',
  dropdown: 'M3 6h14v8H3zM11.5 9l1.5 2 1.5-2',
  radio: 'M5.5 4a2 2 0 1 1 0 4 2 2 0 0 1 0-4M5.5 12a2 2 0 1 1 0 4 2 2 0 0 1 0-4M10.5 6H17M10.5 14H17',
  multiple_choice: 'M3.5 4h4v4h-4zM3.5 12h4v4h-4zM10.5 6H17M10.5 14H17M4.5 6l.8.9L6.6 5.2',
  yes_no: 'M2.5 10.5l2.5 2.5 4-5M12 7.5l5 5M17 7.5l-5 5',
  file_upload: 'M10 12.5v-9M6.5 6.5 10 3l3.5 3.5M4 10.5V16.5h12v-6',
  heading: 'M5 4v12M15 4v12M5 10h10',
  paragraph: 'M3.5 5h13M3.5 8.5h13M3.5 12h13M3.5 15.5h7',
  divider: 'M3 10h14M6 5.5h8M6 14.5h8',
  composite: 'M3 3.5h14v13H3zM6 7h8M6 10h3.5M11.5 10H14M6 13h8',
};

/** Beside the type's name: hidden from screen readers. */
export function ElementIcon({ type }: { type: ElementType }): ReactElement {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={paths[type]} />
    </svg>
  );
}
