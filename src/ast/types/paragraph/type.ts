import { formLimits } from '../../basics/limits.ts';
import type { ElementDefinition } from '../definition.ts';
import { contentAttributes } from '../shared-attributes.ts';

export const paragraph = {
  group: 'content',
  title: 'Paragraph',
  icon: 'M3.5 5h13M3.5 8.5h13M3.5 12h13M3.5 15.5h7',
  words: 'text description',
  firstLabel: 'A few sentences that explain what comes next.',
  // The label can have several sentences.
  attrs: { ...contentAttributes, label: { ...contentAttributes.label, maxBytes: formLimits.textBytes } },
  summary: 'nothing',
} as const satisfies ElementDefinition;
