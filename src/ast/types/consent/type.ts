import { formLimits } from '../../basics/limits.ts';
import { defineInputType } from '../definition.ts';
import { questionAttributes } from '../shared-attributes.ts';

export const consent = defineInputType({
  title: 'Consent',
  icon: 'M4 3h9l3 3v11H4zM7 11l2 2 4-4M7 6.5h3',
  words: 'agree terms privacy gdpr checkbox accept policy',
  palette: 'choice',
  firstLabel: 'Privacy',
  attrs: {
    ...questionAttributes,
    statement: { kind: 'string', title: 'Consent text', required: true, maxBytes: formLimits.textBytes },
  },
  first: { statement: 'I agree to the [privacy notice](https://example.com/privacy).' },
  summary: 'given',
  columnWidth: 160,
  schema: () => ({
    type: 'object',
    properties: {
      agreed: { type: 'boolean', description: 'Always true.' },
      text: { type: 'string' },
      version: { type: 'integer', minimum: 1 },
      at: { type: 'string', format: 'date-time' },
    },
    required: ['agreed', 'text', 'version', 'at'],
  }),
  samples: ({ statement }, today) => [
    { agreed: true, text: statement, version: 1, at: `${today}T09:30:00.000Z` },
  ],
});
