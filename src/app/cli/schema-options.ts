import type { TObject } from 'typebox';
import { flag, type Input, type Option } from './command.ts';
import {
  base64,
  choice,
  date,
  id,
  json,
  list,
  orFile,
  text,
  UsageError,
  type Value,
  wholeNumber,
} from './values.ts';

/** As much of a JSON Schema as the command line reads. */
type Schema = {
  type?: string;
  enum?: readonly unknown[];
  const?: unknown;
  format?: string;
  contentEncoding?: string;
  /** Returned, and ignored in requests. */
  readOnly?: boolean;
  anyOf?: readonly Schema[];
  items?: Schema;
  description?: string;
  default?: unknown;
};

/** `per_page` is `--per-page`. */
export const optionName = (field: string): string => field.replaceAll('_', '-');

/**
 * Draws the fields of a query or a body as options, each by its schema: a text, a choice, a list with commas, JSON. Texts, data and
 * JSON take `@file`. A boolean is `--name` or `--no-name`; `--no-name` of a nullable field is null.
 * @param unless an option that can take the place of all of them.
 */
export function optionsOf(schema: TObject, unless?: string): Record<string, Option<unknown>> {
  const required = new Set<string>(schema.required ?? []);
  const options: Record<string, Option<unknown>> = {};
  for (const [field, property] of Object.entries(schema.properties as Record<string, Schema>)) {
    if (property.readOnly) continue;
    const name = optionName(field);
    const value = valueOf(property);
    const about = describe(property);
    options[name] = {
      value,
      isRequired: required.has(field) && value !== undefined,
      about,
      ...(unless && { unless }),
    };
    if (value === undefined || isNullable(property)) options[`no-${name}`] = flag;
  }
  return options;
}

/** The fields that options said, as `optionsOf` declares them. */
export function fieldsOf(schema: TObject, input: Input): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [field, property] of Object.entries(schema.properties as Record<string, Schema>)) {
    const name = optionName(field);
    const isYes = isYesOrNo(property);
    const isNo = input[`no-${name}`] === true;
    // A flag that was not given is false.
    const isSaid = isYes ? input[name] === true : input[name] !== undefined;
    if (isNo && isSaid) throw new UsageError(`--${name} and --no-${name} exclude each other.`);
    if (isNo) fields[field] = isYes ? false : null;
    else if (isSaid) fields[field] = input[name];
  }
  return fields;
}

/** How the text of one field is read; undefined for yes or no. */
export function valueOf(given: Schema): Value<unknown> | undefined {
  if (isYesOrNo(given)) return undefined;
  const schema = withoutNull(given);
  const words = wordsOf(schema);
  if (words) return choice(words);
  const { type, format, items } = schema;
  if (type === 'array' && items && isText(items)) return listOf(items);
  if (type === 'integer') return wholeNumber;
  if (type === 'number') return number;
  if (type !== 'string') return json;
  if (format === 'uuid') return id;
  if (format === 'date-time') return moment;
  return schema.contentEncoding === 'base64' ? base64 : orFile(text('<text>'));
}

const withoutNull = (schema: Schema): Schema => {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  return others.length === 1 ? others[0]! : schema;
};

const isNullable = (schema: Schema): boolean => schema.anyOf?.some(({ type }) => type === 'null') ?? false;

const isYesOrNo = (schema: Schema): boolean =>
  schema.type === 'boolean' || wordsOf(schema)?.toSorted().join() === 'false,true';

const isText = (schema: Schema): boolean => schema.type === 'string' || wordsOf(schema) !== undefined;

/** The words of an enumeration. */
function wordsOf({ enum: words, const: word, anyOf }: Schema): string[] | undefined {
  const found = words ?? (word === undefined ? anyOf?.map((branch) => branch.const) : [word]);
  return found && found.length > 0 && found.every((each) => typeof each === 'string')
    ? [...found]
    : undefined;
}

const number: Value<number> = {
  shows: '<n>',
  mustBe: 'a number',
  read: (given) => (/^-?\d+(\.\d+)?$/.test(given) ? Number(given) : undefined),
};

/** A day or a moment, as text. */
const moment: Value<string> = { ...date, read: (given) => date.read(given)?.toISOString() };

/** Texts with commas between them; as JSON where a comma is part of one. */
function listOf(items: Schema): Value<unknown> {
  const each = valueOf(items)!;
  const shows = each.choices?.join('|') === each.shows ? `<${each.choices.join(',')}>` : list.shows;
  return {
    ...each,
    shows,
    mustBe: `${each.choices ? `some of ${each.choices.join(', ')}` : each.mustBe}, with commas between them, or JSON`,
    read(given) {
      if (/^(\[|@(?!@))/.test(given)) return json.read(given);
      const read = list.read(given)?.map((item) => each.read(item));
      return read?.includes(undefined) ? undefined : read;
    },
  };
}

function describe({ description, default: usual }: Schema): string | undefined {
  const parts = [description, usual === undefined ? undefined : `Without it: ${JSON.stringify(usual)}.`];
  return parts.filter(Boolean).join(' ') || undefined;
}
