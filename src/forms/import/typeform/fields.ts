import { own } from '#ast/json.ts';
import { add, line, node, optionsOf, prose, type Sketched } from '../sketch.ts';
import type { Part } from '../source.ts';
import type { Reading } from './reading.ts';

/** Every field, those of groups behind theirs. */
export const fieldsOf = (part: Part): Part[] =>
  part
    .list('fields')
    .flatMap((field) => [field, ...(isGroup(field) ? fieldsOf(field.part('properties')) : [])]);

/** What logic names a part by. */
export function refOf(part: Part): string {
  const id = part.text('id');
  return part.text('ref') ?? id ?? part.path;
}
export const hiddenRef = (part: Part): string => `hidden ${part.text() ?? ''}`;

const groups: readonly (string | undefined)[] = ['group', 'inline_group', 'contact_info', 'address'];
export const isGroup = (field: Part): boolean => groups.includes(field.text('type'));

const severalOrOne = (field: Part): string =>
  field.part('properties').flag('allow_multiple_selection') ? 'multiple_choice' : 'radio';

/** Their types, and what each is here. */
const types: Readonly<Record<string, (field: Part, reading: Reading) => Sketched | undefined>> = {
  short_text: () => node('text'),
  long_text: () => node('textarea'),
  email: () => node('email'),
  phone_number: () => node('phone'),
  website: () => node('url'),
  number: () => node('number'),
  date: () => node('date'),
  yes_no: () => node('yes_no'),
  file_upload: () => node('file_upload'),
  dropdown: (field, reading) => node('dropdown', choices(field, reading)),
  multiple_choice: (field, reading) => node(severalOrOne(field), choices(field, reading)),
  picture_choice: (field, reading) => {
    field.change('Its pictures are at another service: upload them in the builder.');
    return node('picture_choice', {
      ...choices(field, reading),
      multiple: field.part('properties').flag('allow_multiple_selection') || undefined,
      other: undefined,
    });
  },
  ranking: (field, reading) => node('ranking', choices(field, reading)),
  rating: (field) => {
    const { steps, shape } = levelsOf(field);
    if (shape !== undefined && shape !== 'star' && shape !== 'heart')
      field.part('properties').part('shape').change('It is drawn as stars.');
    return node('rating', { levels: steps, symbol: shape === 'heart' ? 'hearts' : undefined });
  },
  opinion_scale: (field) => scale(field),
  nps: (field) => scale(field),
  legal: (field, { write }) =>
    node('consent', {
      statement:
        prose(field.part('properties').part('description'), write) ?? prose(field.part('title'), write),
    }),
  matrix: matrix,
  statement: () => undefined,
};

function levelsOf(field: Part): { steps: number | undefined; shape: string | undefined } {
  const properties = field.part('properties');
  return { steps: properties.number('steps'), shape: properties.text('shape') };
}

function scale(field: Part): Sketched {
  const properties = field.part('properties');
  const from = properties.flag('start_at_one') ? 1 : 0;
  const { steps = 11 } = levelsOf(field);
  const labels = properties.part('labels');
  if (labels.part('center').isThere) labels.part('center').leaveOut('A scale has words at its two ends.');
  return node('scale', {
    from,
    to: from + steps - 1,
    low_label: line(labels.part('left')),
    high_label: line(labels.part('right')),
  });
}

function choices(field: Part, reading: Reading): Record<string, unknown> {
  const properties = field.part('properties');
  properties.leaveOutIf('randomize', 'Options stand in the order of the form.');
  properties.leaveOutIf('alphabetical_order', 'Options stand in the order of the form.');
  const isVertical = properties.flag('vertical_alignment');
  const options = optionsOf(properties.list('choices'), (part) => {
    const label = line(part.part('label'));
    if (label !== undefined) reading.choices.set(refOf(part), label);
    if (part.part('attachment').isThere) part.part('attachment').leaveOut(elsewhere);
    return { id: undefined, label };
  });
  return {
    options,
    other: takesOther(field, properties) || undefined,
    options_layout: isVertical === false && field.text('type') === 'multiple_choice' ? 'row' : undefined,
  };
}

function takesOther(field: Part, properties: Part): boolean {
  const isTaken = field.text('type') === 'multiple_choice' || field.text('type') === 'dropdown';
  if (properties.flag('allow_other_choice') !== true || isTaken)
    return isTaken && properties.flag('allow_other_choice') === true;
  properties.part('allow_other_choice').leaveOut('This question takes no other answer here.');
  return false;
}

const elsewhere = 'It is at another service. Upload it in the builder.';

function matrix(field: Part, reading: Reading): Sketched {
  const rows = field.part('properties').list('fields');
  const [first, ...others] = rows;
  const multiple = rows.some((row) => row.part('properties').flag('allow_multiple_selection'));
  const options = first ? choices(first, reading)['options'] : [];
  // Each row repeats the columns.
  const columns =
    first
      ?.part('properties')
      .list('choices')
      .map((each) => each.text('label')) ?? [];
  for (const row of others)
    for (const [at, each] of row.part('properties').list('choices').entries())
      if (each.text('label') !== columns[at]) each.leaveOut('Every row has the columns of the first one.');
  return node('matrix', {
    rows: optionsOf(rows, (row) => ({
      id: refOf(row) && undefined,
      label: line(row.part('title'), reading.write),
    })),
    options,
    multiple: multiple || undefined,
  });
}

export function readField(field: Part, parent: Sketched, step: Sketched, reading: Reading): void {
  const { sketch, write, refs } = reading;
  const [type = '', ref] = [field.text('type'), refOf(field)];
  const properties = field.part('properties');
  const label = line(field.part('title'), write) ?? 'Untitled';
  const help = prose(properties.part('description'), write);
  reading.steps.set(ref, step);
  const id = refs.get(ref) ?? sketch.newId(undefined, label);
  if (field.part('attachment').isThere) field.part('attachment').leaveOut(elsewhere);
  if (isGroup(field)) {
    const group = node('composite', { id, label });
    add(sketch, parent, group, field);
    if (help) add(sketch, group, node('paragraph', { label: help }), properties.part('description'));
    for (const inner of properties.list('fields')) readField(inner, group, step, reading);
    return;
  }
  const make = own(types, type);
  if (!make) return field.leaveOut(`There is no element like "${type.slice(0, 40)}".`);
  const made = make(field, reading);
  if (!made) {
    const text = [label, help].filter((each) => each !== undefined).join('\n\n');
    return add(sketch, parent, node('rich_text', { text }), field);
  }
  const isStated = made.type === 'consent' && made.attrs['statement'] === help;
  made.attrs = {
    id,
    label,
    ...(help && !isStated && { help_text: help }),
    ...made.attrs,
    ...limitsOf(field, made),
  };
  reading.elements.set(ref, made);
  add(sketch, parent, made, field);
}

function limitsOf(field: Part, { type }: Sketched): Record<string, unknown> {
  const validations = field.part('validations');
  const required = validations.flag('required');
  const several = type === 'multiple_choice' || type === 'picture_choice';
  const found = {
    ...((type === 'text' || type === 'textarea') && { max_length: validations.number('max_length') }),
    ...(type === 'number' && { min: validations.number('min_value'), max: validations.number('max_value') }),
    ...(several && {
      min_choices: validations.number('min_selection'),
      max_choices: validations.number('max_selection'),
    }),
  };
  const given = Object.entries(found).filter(([, value]) => value !== undefined);
  return { ...(required && { required }), ...Object.fromEntries(given) };
}
