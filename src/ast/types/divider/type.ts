import type { ElementDefinition } from '../definition.ts';
import { displayElementAttributes } from '../shared-attributes.ts';

export const divider = {
  group: 'content',
  title: 'Divider',
  icon: 'M3 10h14M6 5.5h8M6 14.5h8',
  words: 'line separator rule',
  attrs: displayElementAttributes,
  summary: 'nothing',
} as const satisfies ElementDefinition;
