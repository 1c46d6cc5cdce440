import type { AttributeSpecs } from '../attributes/attributes.ts';
import { formLimits } from '../basics/limits.ts';
import {
  consent,
  dropdown,
  matrix,
  multipleChoice,
  pictureChoice,
  radio,
  ranking,
  yesNo,
} from '../types/choice-types.ts';
import type { ElementDefinition } from '../types/definition.ts';
import { fileUpload, signature } from '../types/file-types.ts';
import { composite, divider, heading, image, paragraph, richText } from '../types/layout-types.ts';
import { date, datetime, time } from '../types/moment-types.ts';
import { calculation, number, rating, scale, score } from '../types/number-types.ts';
import { shuffle, stepLayout, translations, visibilityAttributes } from '../types/shared-attributes.ts';
import { email, hidden, phone, text, textarea, url } from '../types/text-types.ts';
import type { InputType } from './input-rules.ts';

export type { InputType } from './input-rules.ts';

export type ElementCategory = ElementDefinition['group'];

/** Ensures that every type with an answer is an input of the table. */
type InputDefinitions = Record<InputType, ElementDefinition & { group: 'input' }>;

const description = { kind: 'string', title: 'Description', maxBytes: formLimits.textBytes } as const;

/** The attributes of a form node. */
export const formAttributes = {
  name: { kind: 'string', title: 'Name', required: true, maxBytes: formLimits.labelBytes },
  description,
  languages: { kind: 'languages', title: 'Languages', maxItems: formLimits.languages },
  translations,
} as const satisfies AttributeSpecs;

export const stepAttributes = {
  id: { kind: 'id', title: 'ID' },
  title: { kind: 'string', title: 'Title', maxBytes: formLimits.labelBytes },
  description,
  layout: stepLayout,
  shuffle: shuffle('Shuffle questions'),
  ...visibilityAttributes,
  jumps: { kind: 'jumps', title: 'Skip to' },
  translations,
} as const satisfies AttributeSpecs;

/**
 * The table of the form language (specification, "Form AST"; docs/rules.md 17). Validation, schemas,
 * summaries, the builder and the page read it. A new type is a definition in `types/`, a renderer in
 * `src/page/render/elements/`, and a line here, in `input-rules.ts` or `lazy-rules.ts`, and in the table of
 * renderers. test/floors.test.ts counts these places.
 */
export const elementDefinitions = {
  text,
  textarea,
  email,
  phone,
  url,
  number,
  date,
  time,
  datetime,
  dropdown,
  radio,
  multiple_choice: multipleChoice,
  yes_no: yesNo,
  file_upload: fileUpload,
  rating,
  scale,
  ranking,
  consent,
  hidden,
  picture_choice: pictureChoice,
  matrix,
  calculation,
  score,
  signature,
  heading,
  paragraph,
  divider,
  image,
  rich_text: richText,
  composite,
} as const satisfies Record<string, ElementDefinition> & InputDefinitions;

export type ElementType = keyof typeof elementDefinitions;

type TypeIn<Group extends ElementCategory> = {
  [Type in ElementType]: (typeof elementDefinitions)[Type]['group'] extends Group ? Type : never;
}[ElementType];

export type ContentType = TypeIn<'content'>;
export type CompositeType = TypeIn<'composite'>;

/** Returns whether an empty control can show a placeholder. Date and time controls cannot. */
export const showsPlaceholder = (type: InputType): boolean =>
  !/^(date|time|$)/.test(elementDefinitions[type].control ?? '');

/** Returns whether the value is an element type. False for names such as `constructor`. */
export function isElementType(value: unknown): value is ElementType {
  return typeof value === 'string' && Object.hasOwn(elementDefinitions, value);
}
