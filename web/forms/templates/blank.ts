import type { Template } from './template.ts';

/** Nothing yet but a place to put elements. */
export const blank = {
  id: 'blank',
  title: 'Blank form',
  description: 'One empty step.',
  structure: {
    type: 'form',
    attrs: { name: 'Untitled form' },
    children: [{ type: 'step', attrs: { layout: 'stack' }, children: [] }],
  },
} as const satisfies Template;
