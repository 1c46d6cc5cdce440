import type { AttributeSpecs } from '../attributes/attributes.ts';
import { formLimits } from '../basics/limits.ts';
import { calculation } from '../types/calculation/type.ts';
import { composite } from '../types/composite/type.ts';
import { consent } from '../types/consent/type.ts';
import { date } from '../types/date/type.ts';
import { datetime } from '../types/datetime/type.ts';
import type { ElementDefinition } from '../types/definition.ts';
import { divider } from '../types/divider/type.ts';
import { dropdown } from '../types/dropdown/type.ts';
import { email } from '../types/email/type.ts';
import { fileUpload } from '../types/file_upload/type.ts';
import { heading } from '../types/heading/type.ts';
import { hidden } from '../types/hidden/type.ts';
import { image } from '../types/image/type.ts';
import { matrix } from '../types/matrix/type.ts';
import { multipleChoice } from '../types/multiple_choice/type.ts';
import { number } from '../types/number/type.ts';
import { paragraph } from '../types/paragraph/type.ts';
import { phone } from '../types/phone/type.ts';
import { pictureChoice } from '../types/picture_choice/type.ts';
import { radio } from '../types/radio/type.ts';
import { ranking } from '../types/ranking/type.ts';
import { rating } from '../types/rating/type.ts';
import { richText } from '../types/rich_text/type.ts';
import { scale } from '../types/scale/type.ts';
import { score } from '../types/score/type.ts';
import { shuffle, stepLayout, translations, visibilityAttributes } from '../types/shared-attributes.ts';
import { signature } from '../types/signature/type.ts';
import { text } from '../types/text/type.ts';
import { textarea } from '../types/textarea/type.ts';
import { time } from '../types/time/type.ts';
import { url } from '../types/url/type.ts';
import { yesNo } from '../types/yes_no/type.ts';
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
 * summaries, the builder and the page read it. A new type is a folder in `types/`, a drawing in
 * `src/page/render/elements/`, and a line here, in `lazy-rules.ts` and in the table of drawings.
 * test/floors.test.ts counts these places.
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
