import { attributeDefaults } from '../basics/defaults.ts';
import { formLimits } from '../basics/limits.ts';
import type { ElementDefinition } from './definition.ts';
import {
  columnSpan,
  contentAttributes,
  displayElementAttributes,
  id,
  label,
  layout,
  translations,
  visibilityAttributes,
} from './shared-attributes.ts';

export const heading = {
  group: 'content',
  title: 'Heading',
  icon: 'M5 4v12M15 4v12M5 10h10',
  words: 'title headline section',
  firstLabel: 'A heading',
  attrs: contentAttributes,
  summary: 'nothing',
} as const satisfies ElementDefinition;

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

export const divider = {
  group: 'content',
  title: 'Divider',
  icon: 'M3 10h14M6 5.5h8M6 14.5h8',
  words: 'line separator rule',
  attrs: displayElementAttributes,
  summary: 'nothing',
} as const satisfies ElementDefinition;

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

export const composite = {
  group: 'composite',
  title: 'Group',
  icon: 'M3 3.5h14v13H3zM6 7h8M6 10h3.5M11.5 10H14M6 13h8',
  words: 'section columns grid row repeat',
  firstLabel: 'A group of questions',
  attrs: {
    id,
    label,
    layout,
    repeatable: { kind: 'boolean', title: 'Repeatable', default: attributeDefaults.repeatable },
    ...visibilityAttributes,
    col_span: columnSpan,
    translations,
  },
  summary: 'rows',
  columnWidth: 280,
} as const satisfies ElementDefinition;
