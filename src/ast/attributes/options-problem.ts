import { isImageId } from '../basics/image-id.ts';
import { getProperty, isRecord } from '../basics/json.ts';
import { formLimits } from '../basics/limits.ts';
import { type Option, optionIdOf, optionLabelOf } from '../basics/options.ts';
import { formatExactBytes, quote } from '../basics/problems.ts';
import { fitsBytes, isInvisible } from '../basics/text.ts';
import { conditionProblem } from './condition-problem.ts';
import { conditionAttributeSchema } from './condition-schema.ts';
import type { AttributeSpec } from './specs.ts';

type Spec = AttributeSpec<'options'>;

/** Returns what is wrong with the options of a question, for example `must not repeat "Red"`. */
export function optionsProblem(spec: Spec, value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be a list of options';
  if (value.length === 0) return 'must have at least one entry';
  if (value.length > spec.maxItems) return `must have at most ${spec.maxItems} entries`;
  const [ids, labels] = [new Set<string>(), new Set<string>()];
  for (const [index, entry] of (value as readonly unknown[]).entries()) {
    const problem = entryProblem(spec, entry);
    if (problem) return isRecord(entry) ? `must not have an entry ${index + 1} that ${problem}` : problem;
    const option = entry as Option;
    const [id, label] = [optionIdOf(option), optionLabelOf(option)];
    if (ids.has(id)) return `must not repeat ${id === label ? '' : 'the id '}${quote(id)}`;
    if (labels.has(label)) return `must not repeat ${id === label ? '' : 'the label '}${quote(label)}`;
    ids.add(id);
    labels.add(label);
  }
  return undefined;
}

function entryProblem(spec: Spec, entry: unknown): string | undefined {
  if (typeof entry === 'string') {
    const problem = lineProblem(spec, entry);
    return problem && `must not have an entry ${problem}`;
  }
  if (!isRecord(entry)) return 'must be a list of strings, or of objects with an "id" and a "label"';
  for (const name of ['id', 'label']) {
    const problem = lineProblem(spec, getProperty(entry, name));
    if (problem) return `has ${name === 'id' ? 'an "id"' : 'a "label"'} ${problem}`;
  }
  const wrong = details.find(
    ({ name, fits }) => getProperty(entry, name) !== undefined && !fits(getProperty(entry, name)),
  );
  if (wrong) return `has a "${wrong.name}" that is not ${wrong.being}`;
  const condition = getProperty(entry, 'show_when');
  const fault = condition === undefined ? undefined : conditionProblem(condition);
  if (fault) return `has a "show_when" that ${fault}`;
  const uncounted = details.find(
    ({ name, isOfChoices }) => isOfChoices && getProperty(entry, name) !== undefined,
  );
  return uncounted && !spec.areChosen
    ? `has a "${uncounted.name}", which these options do not support`
    : undefined;
}

/** Returns what is wrong with the text of an option, as the end of a sentence about the option. */
function lineProblem({ maxBytes }: Spec, text: unknown): string | undefined {
  if (typeof text !== 'string') return 'that is not text';
  // HTML forms send line breaks as CRLF, which would no longer match the option.
  if (isInvisible(text) || /[\r\n]/.test(text)) return 'that is blank or has line breaks';
  return fitsBytes(text, maxBytes) ? undefined : `over ${formatExactBytes(maxBytes)}`;
}

/** The optional attributes of options. Some exist only for options that visitors choose. */
const details = [
  {
    name: 'points',
    being: `a number from -${formLimits.points} to ${formLimits.points}`,
    isOfChoices: true,
    fits: (value: unknown) => typeof value === 'number' && Math.abs(value) <= formLimits.points,
    schema: { type: 'number', minimum: -formLimits.points, maximum: formLimits.points },
    description: 'Points for choosing the option.',
  },
  {
    name: 'capacity',
    being: `a whole number from 1 to ${formLimits.capacity}`,
    isOfChoices: true,
    fits: (value: unknown) =>
      Number.isInteger(value) && Number(value) >= 1 && Number(value) <= formLimits.capacity,
    schema: { type: 'integer', minimum: 1, maximum: formLimits.capacity },
    description: 'How many completed submissions can choose the option.',
  },
  {
    name: 'image',
    being: 'the ID of an image in this workspace',
    isOfChoices: false,
    fits: isImageId,
    schema: { type: 'string', format: 'uuid' },
    description: 'The ID of an image in the workspace.',
  },
  {
    name: 'show_when',
    being: 'a condition',
    isOfChoices: true,
    fits: isRecord,
    schema: conditionAttributeSchema,
    description: 'The option is offered only if this condition is true.',
  },
] as const;

export function optionsSchema({ maxItems, maxBytes, areChosen }: Spec): object {
  const text = { type: 'string', minLength: 1, maxLength: maxBytes };
  const shown = details.filter(({ isOfChoices }) => areChosen || !isOfChoices);
  const option = {
    type: 'object',
    properties: {
      id: { ...text, description: 'The value that answers store. It stays the same when the label changes.' },
      label: { ...text, description: 'The text that visitors see.' },
      ...Object.fromEntries(shown.map(({ name, schema, description }) => [name, { ...schema, description }])),
    },
    required: ['id', 'label'],
  };
  return { type: 'array', items: { anyOf: [text, option] }, minItems: 1, maxItems, uniqueItems: true };
}
