import { defineInputType } from '../definition.ts';
import { verify } from '../shared-attributes.ts';
import { lineAttributes, textSchema } from '../text-type.ts';

export const email = defineInputType({
  title: 'Email',
  icon: 'M3 5h14v10H3zM3 5.5l7 5.5 7-5.5',
  words: 'mail contact reply',
  attrs: { ...lineAttributes, verify },
  summary: 'texts',
  identifies: true,
  control: 'email',
  schema: (attrs) => textSchema(attrs, { format: 'idn-email' }),
  samples: () => ['ada@example.com', 'ada.lovelace@analytical-engines.example.com', 'a@b.co'],
});
