import { isImageId } from '../basics/image-id.ts';
import { isRecord, own } from '../basics/json.ts';
import { limits } from '../basics/limits.ts';
import { idOf, labelOf, type Option } from '../basics/options.ts';
import { quote, sayBytes } from '../basics/problems.ts';
import { fitsBytes, isInvisible } from '../basics/text.ts';
import { conditionProblem } from './condition-problem.ts';
import { conditionAttribute } from './condition-schema.ts';
import type { AttributeSpec } from './specs.ts';

type Spec = AttributeSpec<'options'>;

/** What is wrong with the options of a question, as the end of a sentence about them: `must not repeat "Red"`. */
export function optionsProblem(spec: Spec, value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be a list of options';
  if (value.length === 0) return 'must have at least one entry';
  if (value.length > spec.maxItems) return `must have at most ${spec.maxItems} entries`;
  const [ids, labels] = [new Set<string>(), new Set<string>()];
  for (const [index, entry] of (value as readonly unknown[]).entries()) {
    const problem = entryProblem(spec, entry);
    if (problem) return isRecord(entry) ? `must not have an entry ${index + 1} that ${problem}` : problem;
    const option = entry as Option;
    const [id, label] = [idOf(option), labelOf(option)];
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
  if (!isRecord(entry)) return 'must be a list of texts, or of objects with an "id" and a "label"';
  for (const name of ['id', 'label']) {
    const problem = lineProblem(spec, own(entry, name));
    if (problem) return `has ${name === 'id' ? 'an "id"' : 'a "label"'} ${problem}`;
  }
  const wrong = details.find(({ name, fits }) => own(entry, name) !== undefined && !fits(own(entry, name)));
  if (wrong) return `has a "${wrong.name}" that is not ${wrong.being}`;
  const condition = own(entry, 'show_when');
  const fault = condition === undefined ? undefined : conditionProblem(condition);
  if (fault) return `has a "show_when" that ${fault}`;
  const uncounted = details.find(({ name, isOfChoices }) => isOfChoices && own(entry, name) !== undefined);
  return uncounted && !spec.areChosen
    ? `has a "${uncounted.name}": each of these is always chosen`
    : undefined;
}

/** What is wrong with the text of an option, as the end of a sentence about what has it. */
function lineProblem({ maxBytes }: Spec, text: unknown): string | undefined {
  if (typeof text !== 'string') return 'that is no text';
  // A line break would come back from an HTML form as CRLF and match no option any more.
  if (isInvisible(text) || /[\r\n]/.test(text)) return 'that is blank or has line breaks';
  return fitsBytes(text, maxBytes) ? undefined : `over ${sayBytes(maxBytes)}`;
}

/** What an option may say besides, of what is chosen or of every one. */
const details = [
  {
    name: 'points',
    being: `a number from -${limits.points} to ${limits.points}`,
    isOfChoices: true,
    fits: (value: unknown) => typeof value === 'number' && Math.abs(value) <= limits.points,
    schema: { type: 'number', minimum: -limits.points, maximum: limits.points },
    description: 'What choosing it counts.',
  },
  {
    name: 'capacity',
    being: `a whole number from 1 to ${limits.capacity}`,
    isOfChoices: true,
    fits: (value: unknown) =>
      Number.isInteger(value) && Number(value) >= 1 && Number(value) <= limits.capacity,
    schema: { type: 'integer', minimum: 1, maximum: limits.capacity },
    description: 'How many completed submissions may have chosen it.',
  },
  {
    name: 'image',
    being: 'the id of an image of this workspace',
    isOfChoices: false,
    fits: isImageId,
    schema: { type: 'string', format: 'uuid' },
    description: 'The id of an image of the workspace.',
  },
  {
    name: 'show_when',
    being: 'a condition',
    isOfChoices: true,
    fits: isRecord,
    schema: conditionAttribute,
    description: 'While it does not hold, the option is not offered.',
  },
] as const;

/** JSON Schema of the options of a question. */
export function optionsSchema({ maxItems, maxBytes, areChosen }: Spec): object {
  const text = { type: 'string', minLength: 1, maxLength: maxBytes };
  const shown = details.filter(({ isOfChoices }) => areChosen || !isOfChoices);
  const option = {
    type: 'object',
    properties: {
      id: { ...text, description: 'What answers keep: it stays when the label changes.' },
      label: { ...text, description: 'What people read.' },
      ...Object.fromEntries(shown.map(({ name, schema, description }) => [name, { ...schema, description }])),
    },
    required: ['id', 'label'],
  };
  return { type: 'array', items: { anyOf: [text, option] }, minItems: 1, maxItems, uniqueItems: true };
}
