import type { ElementDefinition } from '../definition.ts';
import { contentAttributes } from '../shared-attributes.ts';

export const heading = {
  group: 'content',
  title: 'Heading',
  icon: 'M5 4v12M15 4v12M5 10h10',
  words: 'title headline section',
  firstLabel: 'A heading',
  attrs: contentAttributes,
  summary: 'nothing',
} as const satisfies ElementDefinition;
