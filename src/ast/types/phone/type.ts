import { defineInputType } from '../definition.ts';
import { lineAttributes, textSchema } from '../text-type.ts';

export const phone = defineInputType({
  title: 'Phone',
  icon: 'M6 2.5h8v15H6zM9 15h2',
  words: 'telephone mobile number contact',
  attrs: lineAttributes,
  summary: 'texts',
  identifies: true,
  control: 'tel',
  schema: (attrs) => textSchema(attrs),
  samples: () => ['+1 555 010 0199', '5550100', '+1 (555) 010-0199 0000'],
});
