import { defineInputType } from '../definition.ts';
import { lineAttributes, textSchema } from '../text-type.ts';

export const url = defineInputType({
  title: 'Website',
  icon: 'M8.5 11.5a3 3 0 0 0 4.3 0l2.6-2.6a3 3 0 0 0-4.3-4.3l-1 1M11.5 8.5a3 3 0 0 0-4.3 0l-2.6 2.6a3 3 0 0 0 4.3 4.3l1-1',
  words: 'link url web address',
  attrs: lineAttributes,
  summary: 'texts',
  identifies: true,
  control: 'url',
  // The format `uri` allows only ASCII letters, but answers can have others.
  schema: (attrs) => textSchema(attrs, { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$' }),
  samples: () => ['https://example.com/ada', 'https://example.com/people/ada-lovelace', 'https://a.co'],
});
