import { limits } from '#ast/limits.ts';
import type { InputType } from '#ast/elements.ts';
import { type InputElement, takesOther } from '#ast/tree.ts';
import { type JsonSchema, reference } from './json-schema.ts';

type InputOf<Type extends InputType> = Extract<InputElement, { type: Type }>;
type Schemas = { readonly [Type in InputType]: (input: InputOf<Type>) => JsonSchema };

/** The schema of one answer that is there (docs/rules.md 10), by the author's rules as far as a schema can say them. */
export function answerSchema(input: InputElement): JsonSchema {
  // The table pairs each type with its own input, which a lookup by a union cannot express.
  const write = schemas[input.type] as (input: InputElement) => JsonSchema;
  const { description, ...schema } = write(input);
  const notes = [description, whenShown(input)].filter((note) => note !== undefined);
  return {
    title: input.attrs.label,
    ...schema,
    ...(notes.length > 0 && { description: notes.join(' ') }),
  };
}

/** A visitor who does not see a question gives no answer, so it is there in some submissions only. */
function whenShown({ attrs }: InputElement): string | undefined {
  if (attrs.show_when === undefined && attrs.hide_when === undefined) return undefined;
  return 'Only there when the conditions of the form show this question.';
}

type WithLength = { readonly attrs: { readonly min_length?: number; readonly max_length?: number } };

const text = ({ attrs }: WithLength, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  minLength: Math.max(1, attrs.min_length ?? 1),
  maxLength: attrs.max_length ?? limits.answerBytes,
  ...more,
});

/** Patterns take the whole of an answer, those of JSON Schema any part of it. */
const prose = (input: InputOf<'text' | 'textarea'>): JsonSchema =>
  text(input, input.attrs.pattern === undefined ? {} : { pattern: `^(?:${input.attrs.pattern})$` });

/** JSON Schema has no least and most for days and times, so they are said in words. */
function moment(input: InputOf<'date' | 'time' | 'datetime'>, more: JsonSchema): JsonSchema {
  const { min, max } = input.attrs;
  const words = [min && `Not before ${min}.`, max && `Not after ${max}.`].filter(Boolean);
  return { type: 'string', ...more, ...(words.length > 0 && { description: words.join(' ') }) };
}

/** Validators reckon in binary fractions, so only whole steps from zero are said as `multipleOf`. */
function number({ attrs: { min, max, step } }: InputOf<'number'>): JsonSchema {
  const isWhole = step !== undefined && Number.isInteger(step) && (min ?? 0) % step === 0;
  return {
    type: 'number',
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...(isWhole && { multipleOf: step }),
    ...(step !== undefined && !isWhole && { description: `In steps of ${step} from ${min ?? 0}.` }),
  };
}

function choice(input: InputOf<'dropdown' | 'radio' | 'multiple_choice'>): JsonSchema {
  const options: JsonSchema = { enum: input.attrs.options };
  return takesOther(input) ? { anyOf: [options, { type: 'string', minLength: 1 }] } : options;
}

const schemas: Schemas = {
  text: prose,
  textarea: prose,
  email: (input) => text(input, { format: 'email' }),
  phone: (input) => text(input),
  // The format `uri` has no letters beyond ASCII, which answers may have.
  url: (input) => text(input, { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$' }),
  number,
  date: (input) => moment(input, { format: 'date' }),
  // Without seconds and zone, so not the format `time` of JSON Schema.
  time: (input) => moment(input, { pattern: '^\\d{2}:\\d{2}$' }),
  datetime: (input) => moment(input, { pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}$' }),
  dropdown: choice,
  radio: choice,
  multiple_choice: (input) => ({
    type: 'array',
    items: choice(input),
    minItems: Math.max(1, input.attrs.min_choices ?? 1),
    maxItems: input.attrs.max_choices ?? input.attrs.options.length + (takesOther(input) ? 1 : 0),
    uniqueItems: true,
  }),
  yes_no: () => ({ type: 'boolean' }),
  file_upload: ({ attrs }) => ({
    type: 'array',
    items: reference('File'),
    minItems: Math.max(1, attrs.min_files ?? 1),
    ...(attrs.max_files !== undefined && { maxItems: attrs.max_files }),
  }),
};
