import { own } from '#ast/json.ts';
import { firstInSteps, node, type Sketched } from '../sketch.ts';
import type { Part } from '../source.ts';
import { readFormula } from './formula.ts';
import type { SurveyReading } from './reading.ts';

/** What an element of a survey is here, by its type. */
const types: Readonly<Record<string, (part: Part, reading: SurveyReading) => Sketched | string>> = {
  text: (part) => {
    const input = part.text('inputType') ?? 'text';
    const type = own(inputTypes, input);
    if (type === undefined) part.part('inputType').change('Any text is taken.');
    return withLimits(part, node(type ?? 'text'));
  },
  comment: (part) => withLimits(part, node('textarea')),
  radiogroup: (part, reading) => choice(part, reading, 'radio'),
  dropdown: (part, reading) => choice(part, reading, 'dropdown'),
  checkbox: (part, reading) => choice(part, reading, 'multiple_choice'),
  tagbox: (part, reading) => choice(part, reading, 'multiple_choice'),
  buttongroup: (part, reading) => choice(part, reading, 'radio'),
  imagepicker: (part, reading) => {
    for (const each of part.list('choices'))
      if (each.part('imageLink').isThere)
        each.part('imageLink').leaveOut('It is at another service. Upload it in the builder.');
    const made = choice(part, reading, 'picture_choice');
    if (part.flag('multiSelect')) made.attrs['multiple'] = true;
    return made;
  },
  ranking: (part, reading) => choice(part, reading, 'ranking'),
  boolean: (part) => {
    for (const name of ['labelTrue', 'labelFalse'])
      if (part.part(name).isThere) part.part(name).leaveOut('Yes and No are in the language of the page.');
    for (const name of ['valueTrue', 'valueFalse'])
      if (part.word(name) !== undefined) part.part(name).change('The answer is true or false.');
    return node('yes_no');
  },
  expression: (part, { named }) => {
    const formula = readFormula(part.text('expression') ?? '', (name) => named.get(name));
    if (formula === undefined) return 'This expression cannot be worked out here.';
    const decimals = part.number('maximumFractionDigits') ?? -1;
    const style = part.text('displayStyle');
    if (style === 'percent' || style === 'date')
      part.part('displayStyle').change('The result is shown as a plain number.');
    return node('calculation', {
      formula,
      decimals: decimals >= 0 ? Math.min(decimals, 10) : undefined,
      prefix: style === 'currency' ? `${part.text('currency') ?? 'USD'} ` : undefined,
    });
  },
  rating: rating,
  slider: (part) => {
    if (part.text('sliderType') === 'range') part.part('sliderType').change('One number is asked for.');
    const [min = 0, max = 100, step = 1] = ['min', 'max', 'step'].map((name) => part.number(name));
    return node('number', { min, max, step });
  },
  matrix: (part, reading) => {
    const made = node('matrix', { multiple: part.text('cellType') === 'checkbox' || undefined });
    reading.tellOptions(made, 'options', part.list('columns'));
    reading.tellOptions(made, 'rows', part.list('rows'));
    if (part.flag('isAllRowRequired')) made.attrs['required'] = true;
    return made;
  },
  matrixdynamic: (part) => rows(part),
  paneldynamic: (part) => rows(part),
  panel: (part) => node('composite', { layout: part.number('colCount') === 2 ? 'grid_2' : undefined }),
  // Its elements stand in a text (`content`), which is left out.
  flowpanel: () => node('composite'),
  multipletext: () => node('composite'),
  html: (part, reading) => {
    const made = node('rich_text');
    reading.tell(made, 'text', part.part('html'));
    made.attrs['text'] ??= '-';
    return made;
  },
  file: (part) => {
    const size = part.number('maxSize');
    const types = (part.text('acceptedTypes') ?? '').split(',').map((type) => type.trim());
    return node('file_upload', {
      accept: types.some(Boolean) ? types.filter(Boolean) : undefined,
      max_file_size: size !== undefined && size > 0 ? size : undefined,
      max_files: part.flag('allowMultiple') ? (part.number('maxFiles') ?? 10) : 1,
    });
  },
  signaturepad: () => node('signature'),
};

const inputTypes: Readonly<Record<string, string>> = {
  text: 'text',
  email: 'email',
  tel: 'phone',
  url: 'url',
  number: 'number',
  range: 'number',
  date: 'date',
  time: 'time',
  'datetime-local': 'datetime',
  datetime: 'datetime',
};

/** The element for a part, or why there is none. */
export function makeElement(part: Part, id: string, reading: SurveyReading): Sketched | string {
  const type = part.text('type') ?? part.text('cellType') ?? cellType(reading);
  const make = own(types, type);
  if (!make) return `There is no element like "${type.slice(0, 40)}".`;
  const made = make(part, reading);
  if (typeof made === 'string') return made;
  const { tell } = reading;
  made.attrs = { id, label: undefined, ...made.attrs };
  if (part.flag('isRequired')) made.attrs['required'] = true;
  if (part.flag('startWithNewLine') === false)
    part.part('startWithNewLine').change('Questions stand below each other.');
  const isAsked = made.type !== 'rich_text';
  if (!isAsked) return withoutLabel(made);
  tell(made, 'label', part.part('title'));
  made.attrs['label'] ??= part.text('name') ?? 'Untitled';
  if (made.type === 'composite') return made;
  tell(made, 'help_text', part.part('description'));
  // Before version 1.9.65 with a capital.
  for (const name of ['placeHolder', 'placeholder']) tell(made, 'placeholder', part.part(name));
  tell(made, 'error_message', part.part('requiredErrorText'));
  return made;
}

/** What a cell is that does not say so. */
const cellType = ({ matrix }: SurveyReading): string =>
  matrix === undefined ? 'text' : (matrix.text('cellType') ?? 'dropdown');

function withoutLabel({ type, attrs: { label: _label, ...attrs } }: Sketched): Sketched {
  return node(type, attrs);
}

function rows(part: Part): Sketched {
  for (const name of [
    'minRowCount',
    'maxRowCount',
    'rowCount',
    'minPanelCount',
    'maxPanelCount',
    'panelCount',
  ])
    part.leaveOutIf(name, 'There may be up to 100 rows.');
  return node('composite', { repeatable: true });
}

function choice(part: Part, reading: SurveyReading, type: string): Sketched {
  const made = node(type);
  const columns = part.number('colCount') ?? 1;
  if (columns > 1 && (type === 'radio' || type === 'multiple_choice'))
    made.attrs['options_layout'] = `grid_${Math.min(columns, 4)}`;
  if (columns === 0) made.attrs['options_layout'] = 'row';
  const choices = part.list('choices');
  reading.tellOptions(
    made,
    'options',
    choices.length > 0 ? choices : (reading.matrix?.list('choices') ?? []),
  );
  if (part.flag('showNoneItem') ?? part.flag('hasNone')) {
    const none = reading.say(part.part('noneText')) ?? 'None';
    (made.attrs['options'] as unknown[]).push({ id: 'none', label: none });
    if (type === 'multiple_choice') part.change('To choose none takes no other choice back.');
  }
  if (part.flag('showOtherItem') ?? part.flag('hasOther')) made.attrs['other'] = true;
  for (const name of ['otherText', 'otherPlaceholder', 'otherErrorText'])
    if (part.part(name).isThere) part.part(name).leaveOut('The page says it in its language.');
  const order = part.text('choicesOrder');
  if (order !== undefined && order !== 'none')
    part.part('choicesOrder').leaveOut('Options stand in the order of the form.');
  if (type === 'multiple_choice' || type === 'picture_choice') {
    made.attrs['min_choices'] = part.number('minSelectedChoices') || undefined;
    made.attrs['max_choices'] = part.number('maxSelectedChoices') || undefined;
  }
  return node(made.type, made.attrs);
}

/** From 0 or 1 it is a rating, with stars, or a scale; of other values it is one choice. */
function rating(part: Part, reading: SurveyReading): Sketched {
  const values = part.list('rateValues');
  if (values.length > 0) {
    part.change('Its levels are options.');
    const made = node('radio', { options_layout: 'row' });
    reading.tellOptions(made, 'options', values);
    return made;
  }
  const from = part.number('rateMin') ?? 1;
  const to = part.number('rateMax') ?? from + (part.number('rateCount') ?? 5) - 1;
  const type = part.text('rateType') ?? part.text('rateDisplayMode');
  const made =
    from === 1 && to <= 10 && (type === 'stars' || type === 'smileys')
      ? node('rating', { levels: to })
      : node('scale', { from, to });
  if (type === 'smileys') part.change('It is drawn as stars.');
  reading.tell(made, 'low_label', part.part('minRateDescription'));
  reading.tell(made, 'high_label', part.part('maxRateDescription'));
  return made;
}

function withLimits(part: Part, made: Sketched): Sketched {
  const { type, attrs } = made;
  const isNumber = type === 'number';
  const isText = ['text', 'textarea', 'email', 'phone', 'url'].includes(type);
  if (isText) {
    const length = part.number('maxLength');
    if (length !== undefined && length > 0) attrs['max_length'] = length;
  } else {
    attrs['min'] = isNumber ? part.number('min') : part.text('min');
    attrs['max'] = isNumber ? part.number('max') : part.text('max');
  }
  const [base = 0, step] = [part.number('min'), isNumber ? part.number('step') : undefined];
  attrs['step'] = step;
  for (const validator of part.list('validators')) readValidator(validator, made);
  // Steps of a survey begin at the least number of the field, ours at the least number that is taken.
  const least = attrs['min'];
  if (step !== undefined && step > 0 && typeof least === 'number' && least !== base)
    attrs['min'] = firstInSteps(least, step, base);
  return node(type, attrs);
}

function readValidator(part: Part, { type, attrs }: Sketched): void {
  const kind = part.text('type');
  const set = (name: string, value: unknown): void => {
    if (value !== undefined) attrs[name] = value;
  };
  const isProse = type === 'text' || type === 'textarea';
  if ((kind === 'numeric' || kind === 'numericvalidator') && type === 'number') {
    set('min', part.number('minValue'));
    set('max', part.number('maxValue'));
  } else if ((kind === 'text' || kind === 'textvalidator') && isProse) {
    set('min_length', part.number('minLength'));
    set('max_length', part.number('maxLength'));
  } else if ((kind === 'regex' || kind === 'regexvalidator') && isProse) {
    // Ours match the whole answer.
    const source = part.text('regex')?.replace(/^\^/, '').replace(/\$$/, '');
    set('pattern', source || undefined);
    set('error_message', part.text('text'));
  } else if (!((kind === 'email' || kind === 'emailvalidator') && type === 'email'))
    part.leaveOut('There is no such rule here.');
}
