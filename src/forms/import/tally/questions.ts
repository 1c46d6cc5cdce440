import { line, node, optionsOf, type Sketched } from '../sketch.ts';
import type { Part } from '../source.ts';
import { textOfBlock } from './texts.ts';

/** A block that asks, or one of several that ask together: `kind` is what they have in common. */
type Question = { kind: string; make: (run: readonly Part[], labels: OptionLabels) => Sketched };

/** The labels of options by the ids of their blocks, by which logic names them. */
export type OptionLabels = Map<string, string>;

/** What stands among the labels for the option that lets a person write something else. */
export const otherLabel = '\u0000other';

const simple = (kind: string, type: string): Question => ({
  kind,
  make: (run) => withLimits(run[0]!, node(type)),
});
const choices = (kind: string, type: string): Question => ({
  kind,
  make: (run, labels) => readChoices(run, type, labels),
});
const matrix: Question = { kind: 'MATRIX', make: readMatrix };

/** What asks, by the type of its block. */
export const questionTypes: Readonly<Record<string, Question>> = {
  INPUT_TEXT: simple('INPUT_TEXT', 'text'),
  TEXTAREA: simple('TEXTAREA', 'textarea'),
  INPUT_EMAIL: simple('INPUT_EMAIL', 'email'),
  INPUT_PHONE_NUMBER: simple('INPUT_PHONE_NUMBER', 'phone'),
  INPUT_LINK: simple('INPUT_LINK', 'url'),
  INPUT_NUMBER: simple('INPUT_NUMBER', 'number'),
  INPUT_DATE: simple('INPUT_DATE', 'date'),
  INPUT_TIME: simple('INPUT_TIME', 'time'),
  SIGNATURE: simple('SIGNATURE', 'signature'),
  FILE_UPLOAD: { kind: 'FILE_UPLOAD', make: ([block]) => readUpload(block!.part('payload')) },
  RATING: {
    kind: 'RATING',
    make: ([block]) => node('rating', { levels: block!.part('payload').number('stars') }),
  },
  LINEAR_SCALE: { kind: 'LINEAR_SCALE', make: ([block]) => readScale(block!.part('payload')) },
  MULTIPLE_CHOICE_OPTION: choices('MULTIPLE_CHOICE', 'radio'),
  CHECKBOX: choices('CHECKBOXES', 'multiple_choice'),
  DROPDOWN_OPTION: choices('DROPDOWN', 'dropdown'),
  MULTI_SELECT_OPTION: choices('MULTI_SELECT', 'multiple_choice'),
  RANKING_OPTION: choices('RANKING', 'ranking'),
  MATRIX: matrix,
  MATRIX_ROW: matrix,
  MATRIX_COLUMN: matrix,
};

/** The element for blocks that ask together; the type of the first is in `questionTypes`. */
export const makeQuestion = (run: readonly Part[], labels: OptionLabels): Sketched =>
  questionTypes[run[0]!.text('type') ?? '']!.make(run, labels);

/** A limit of a block counts where its flag says so (`hasMaxNumber`, `maxNumber`). */
function limit(payload: Part, name: string): number | undefined {
  const isSet = payload.flag(`has${name[0]!.toUpperCase()}${name.slice(1)}`);
  const value = payload.number(name);
  if (isSet !== false) return value;
  if (value !== undefined) payload.part(name).leaveOut('It is turned off.');
  return undefined;
}

function withLimits(block: Part, { type }: Sketched): Sketched {
  const payload = block.part('payload');
  if (type === 'number')
    return node(type, { min: limit(payload, 'minNumber'), max: limit(payload, 'maxNumber') });
  if (['text', 'textarea', 'email', 'phone', 'url'].includes(type))
    return node(type, {
      min_length: limit(payload, 'minCharacters'),
      max_length: limit(payload, 'maxCharacters'),
    });
  return node(type);
}

function readUpload(payload: Part): Sketched {
  const several = payload.flag('hasMultipleFiles') ?? false;
  const accept = payload
    .part('allowedFiles')
    .parts()
    .flatMap((family) =>
      payload
        .part('allowedFiles')
        .list(family.name)
        .flatMap((ending) => ending.text() ?? []),
    );
  const megabytes = limit(payload, 'maxFileSize');
  return node('file_upload', {
    accept: accept.length > 0 ? accept : undefined,
    max_files: several ? (limit(payload, 'maxFiles') ?? 10) : 1,
    min_files: limit(payload, 'minFiles'),
    max_file_size: megabytes === undefined ? undefined : Math.round(megabytes * 1024 * 1024),
  });
}

function readScale(payload: Part): Sketched {
  const [from = 0, to = 10, step = 1] = [
    payload.number('start'),
    payload.number('end'),
    payload.number('step'),
  ];
  if (step !== 1) payload.part('step').change('Every number between the ends can be chosen.');
  const said = (name: string): string | undefined => {
    const isSaid = payload.flag(`has${name[0]!.toUpperCase()}${name.slice(1)}`);
    const text = line(payload.part(name));
    return isSaid === false ? undefined : text;
  };
  return node('scale', { from, to, low_label: said('leftLabel'), high_label: said('rightLabel') });
}

function readChoices(run: readonly Part[], type: string, labels: OptionLabels): Sketched {
  const [first] = run as [Part];
  const payload = first.part('payload');
  const several = payload.flag('allowMultiple') === true;
  let other: true | undefined;
  const told = run.filter((block) => {
    const inside = block.part('payload');
    for (const name of ['isFirst', 'isLast', 'hasOtherOption']) inside.flag(name);
    inside.number('index');
    if (inside.part('image').isThere)
      inside.part('image').leaveOut('It is at another service. Upload it in the builder.');
    if (inside.flag('isOtherOption')) {
      other = true;
      labels.set(block.text('uuid') ?? '', otherLabel);
      if (type === 'ranking') block.leaveOut('A ranking takes no other answer here.');
      if (inside.text('text') !== undefined) block.change('The page says it in its language.');
    }
    return inside.flag('isOtherOption') !== true;
  });
  payload.leaveOutIf('randomize', 'Options stand in the order of the form.');
  const made = several && type === 'radio' ? 'multiple_choice' : type;
  return node(made, {
    options: optionsOf(told, (block) => {
      const label = textOfBlock(block);
      if (label !== undefined) labels.set(block.text('uuid') ?? '', label);
      return { id: undefined, label };
    }),
    other: made === 'ranking' ? undefined : other,
    ...(made === 'multiple_choice' && {
      min_choices: limit(payload, 'minChoices'),
      max_choices: limit(payload, 'maxChoices'),
    }),
  });
}

function readMatrix(run: readonly Part[]): Sketched {
  const of = (type: string): Part[] => run.filter((block) => block.text('type') === type);
  const read = (block: Part) => {
    const payload = block.part('payload');
    for (const flag of ['isFirst', 'isLast']) payload.flag(flag);
    payload.number('index');
    return { id: undefined, label: textOfBlock(block) };
  };
  const multiple = run.some((block) => block.part('payload').flag('allowMultiple'));
  return node('matrix', {
    rows: optionsOf(of('MATRIX_ROW'), read),
    options: optionsOf(of('MATRIX_COLUMN'), read),
    multiple: multiple || undefined,
  });
}
