import { attributeDefaults } from '../../basics/defaults.ts';
import type { ElementDefinition } from '../definition.ts';
import { columnSpan, id, label, layout, translations, visibilityAttributes } from '../shared-attributes.ts';

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
