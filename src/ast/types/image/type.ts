import { formLimits } from '../../basics/limits.ts';
import type { ElementDefinition } from '../definition.ts';
import { displayElementAttributes, translations } from '../shared-attributes.ts';

export const image = {
  group: 'content',
  title: 'Image',
  icon: 'M3 4h14v12H3zM3 13l4-4 4 4M10 12l3-3 4 4M12.5 7.2a.8.8 0 1 0 1.6 0a.8.8 0 1 0-1.6 0',
  words: 'picture photo figure caption',
  attrs: {
    image: { kind: 'image', title: 'Image', required: true },
    alt: { kind: 'string', title: 'Alt text', required: true, maxBytes: formLimits.labelBytes },
    caption: { kind: 'string', title: 'Caption', maxBytes: formLimits.labelBytes },
    ...displayElementAttributes,
    translations,
  },
  summary: 'nothing',
} as const satisfies ElementDefinition;
