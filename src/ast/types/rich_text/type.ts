import { formLimits } from '../../basics/limits.ts';
import type { ElementDefinition } from '../definition.ts';
import { displayElementAttributes, translations } from '../shared-attributes.ts';

export const richText = {
  group: 'content',
  title: 'Rich text',
  icon: 'M4 5h7M7.5 5v10M12 10h5M14.5 10v5M3 17h14',
  words: 'formatted markdown headings bold italic links lists',
  attrs: {
    text: { kind: 'string', title: 'Text', required: true, maxBytes: formLimits.richTextBytes },
    ...displayElementAttributes,
    translations,
  },
  first: {
    text: '## A heading\n\nA text with **bold** and *italic* words, [links](https://example.com) and lists.',
  },
  summary: 'nothing',
} as const satisfies ElementDefinition;
