import { getProperty } from '#ast/basics/json.ts';
import { isLocale } from '#ast/basics/language-tags.ts';
import { fillPiped } from '#ast/form/piping.ts';
import type { ReferencedElement } from './imported-conditions.ts';
import { languageTagOf, newTexts } from './imported-texts.ts';
import {
  createMappedElement,
  type ElementMapping,
  type ElementMappings,
  leftOutReasons,
  readNumberOr,
  readPositive,
} from './importer-table.ts';
import { addNode, addStep, createNode, type Sketch, type SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';
import {
  convertToFormula,
  readCalculatedValues,
  readCondition,
  readSurveyLogic,
  readTriggers,
  type SurveyImportContext,
} from './surveyjs-logic.ts';

const common = {
  label: 'title',
  help_text: 'description',
  required: 'isRequired',
  error_message: 'requiredErrorText',
};

const length = { max_length: readPositive('maxLength') };
const range = { min: 'min', max: 'max', step: 'step' };

const selection = (
  type: string,
  attrs: ElementMapping['attrs'] = {},
): ElementMapping<SurveyImportContext> => ({
  type,
  attrs: {
    min_choices: (part) => part.number('minSelectedChoices') || undefined,
    max_choices: (part) => part.number('maxSelectedChoices') || undefined,
    options_layout: (part) => {
      const columns = part.number('colCount') ?? 1;
      return columns === 0 ? 'row' : columns > 1 ? `grid_${Math.min(columns, 4)}` : undefined;
    },
    other: (part) => (part.flag('showOtherItem') ?? part.flag('hasOther')) || undefined,
    ...attrs,
  },
  lost: {
    otherText: leftOutReasons.otherText,
    otherPlaceholder: leftOutReasons.otherText,
    otherErrorText: leftOutReasons.otherText,
  },
  finish: readChoices,
});
const rowLimits = ['minRowCount', 'maxRowCount', 'rowCount', 'minPanelCount', 'maxPanelCount', 'panelCount'];
const rows: ElementMapping = {
  type: 'composite',
  attrs: { repeatable: () => true },
  lost: Object.fromEntries(rowLimits.map((name) => [name, 'Up to 100 rows are allowed.'])),
};
const yesAndNo = 'The page has its own labels for yes and no.';

const elements: ElementMappings<SurveyImportContext> = {
  text: {
    type: (part) => {
      const type = getProperty(inputTypes, part.text('inputType') ?? 'text');
      if (type === undefined) part.part('inputType').change('Any text is accepted.');
      return type ?? 'text';
    },
    attrs: { ...range, ...length },
    finish: readValidators,
  },
  comment: { type: 'textarea', attrs: length, finish: readValidators },
  radiogroup: selection('radio'),
  dropdown: selection('dropdown'),
  checkbox: selection('multiple_choice'),
  tagbox: selection('multiple_choice'),
  buttongroup: selection('radio'),
  imagepicker: selection('picture_choice', { multiple: 'multiSelect' }),
  ranking: selection('ranking'),
  boolean: {
    type: 'yes_no',
    lost: { labelTrue: yesAndNo, labelFalse: yesAndNo },
    finish: (part) => {
      for (const name of ['valueTrue', 'valueFalse'])
        if (part.word(name) !== undefined) part.part(name).change('The answer is true or false.');
    },
  },
  expression: {
    type: 'calculation',
    attrs: {
      decimals: (part) => {
        const decimals = part.number('maximumFractionDigits') ?? -1;
        return decimals >= 0 ? Math.min(decimals, 10) : undefined;
      },
    },
    finish: (part, node, { named }) => {
      node.attrs['formula'] = convertToFormula(part.text('expression') ?? '', (name) => named.get(name));
      if (node.attrs['formula'] === undefined) return 'This expression has no equivalent formula.';
      const style = part.text('displayStyle');
      if (style === 'currency') node.attrs['prefix'] = `${part.text('currency') ?? 'USD'} `;
      else if (style === 'percent' || style === 'date')
        part.part('displayStyle').change('The result is shown as a plain number.');
      return undefined;
    },
  },
  rating: {
    type: (part) => {
      const { from, to, style } = levelsOf(part);
      if (part.list('rateValues').length > 0) return 'radio';
      return from === 1 && to <= 10 && (style === 'stars' || style === 'smileys') ? 'rating' : 'scale';
    },
    attrs: {
      levels: (part) => levelsOf(part).to,
      from: (part) => levelsOf(part).from,
      to: (part) => levelsOf(part).to,
      low_label: 'minRateDescription',
      high_label: 'maxRateDescription',
    },
    finish: (part, node, { texts }) => {
      if (levelsOf(part).style === 'smileys') part.change(leftOutReasons.stars);
      if (node.type !== 'radio') return;
      node.attrs['options_layout'] = 'row';
      texts.setOptions(node, 'options', part.list('rateValues'), readOption);
      part.change('Its levels become options.');
    },
  },
  slider: {
    type: 'number',
    attrs: { min: readNumberOr('min', 0), max: readNumberOr('max', 100), step: readNumberOr('step', 1) },
    finish: (part) => {
      if (part.text('sliderType') === 'range')
        part.part('sliderType').change('The question asks for one number.');
    },
  },
  matrix: {
    type: 'matrix',
    attrs: { multiple: (part) => part.text('cellType') === 'checkbox' || undefined },
    finish: (part, node, { texts }) => {
      texts.setOptions(node, 'options', part.list('columns'), readOption);
      texts.setOptions(node, 'rows', part.list('rows'), readOption);
      if (part.flag('isAllRowRequired')) node.attrs['required'] = true;
    },
  },
  matrixdynamic: rows,
  paneldynamic: rows,
  panel: {
    type: 'composite',
    attrs: { layout: (part) => (part.number('colCount') === 2 ? 'grid_2' : undefined) },
  },
  // Its elements are inside a text (`content`), which is left out.
  flowpanel: { type: 'composite' },
  multipletext: { type: 'composite' },
  html: {
    type: 'rich_text',
    attrs: { text: 'html' },
    finish: (_part, node) => {
      node.attrs['text'] ??= '-';
    },
  },
  file: {
    type: 'file_upload',
    attrs: {
      accept: (part) => {
        const types = (part.text('acceptedTypes') ?? '').split(',').map((type) => type.trim());
        return types.some(Boolean) ? types.filter(Boolean) : undefined;
      },
      max_file_size: readPositive('maxSize'),
      max_files: (part) => (part.flag('allowMultiple') ? (part.number('maxFiles') ?? 10) : 1),
    },
  },
  signaturepad: { type: 'signature' },
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

function levelsOf(part: SourcePart): { from: number; to: number; style: string | undefined } {
  const from = part.number('rateMin') ?? 1;
  const to = part.number('rateMax') ?? from + (part.number('rateCount') ?? 5) - 1;
  return { from, to, style: part.text('rateType') ?? part.text('rateDisplayMode') };
}

/** An option is a value, or `{value, text}`. */
const readOption = (part: SourcePart) =>
  part.word() === undefined
    ? { id: part.word('value'), label: part.part('text') }
    : { id: part.word(), label: part };

function readChoices(part: SourcePart, node: SketchNode, { texts, matrix }: SurveyImportContext): void {
  const own = part.list('choices');
  for (const each of own) each.part('imageLink').leaveOut(leftOutReasons.elsewhere);
  texts.setOptions(node, 'options', own.length > 0 ? own : (matrix?.list('choices') ?? []), readOption);
  if (part.flag('showNoneItem') ?? part.flag('hasNone')) {
    (node.attrs['options'] as unknown[]).push({
      id: 'none',
      label: texts.read(part.part('noneText')) ?? 'None',
    });
    if (node.type === 'multiple_choice') part.change(leftOutReasons.noneAlone);
  }
  const order = part.text('choicesOrder');
  if (order === 'random') node.attrs['shuffle'] = true;
  else if (order !== undefined && order !== 'none')
    part.part('choicesOrder').leaveOut(leftOutReasons.ordered);
}

function readValidators(part: SourcePart, node: SketchNode, { texts }: SurveyImportContext): void {
  const { attrs, type } = node;
  const [base, step] = [part.number('min') ?? 0, attrs['step']];
  for (const validator of part.list('validators')) {
    const kind = (validator.text('type') ?? '').replace(/validator$/, '');
    const isProse = type === 'text' || type === 'textarea';
    const set = (name: string, value: unknown): void => {
      if (value !== undefined) attrs[name] = value;
    };
    if (kind === 'numeric' && type === 'number') {
      set('min', validator.number('minValue'));
      set('max', validator.number('maxValue'));
    } else if (kind === 'text' && isProse) {
      set('min_length', validator.number('minLength'));
      set('max_length', validator.number('maxLength'));
    } else if (kind === 'regex' && isProse) {
      // Our patterns match the whole answer.
      set('pattern', validator.text('regex')?.replace(/^\^/, '').replace(/\$$/, '') || undefined);
      texts.set(node, 'error_message', validator.part('text'));
    } else if (kind !== 'email' || type !== 'email') validator.leaveOut(leftOutReasons.rule);
  }
  // In SurveyJS, steps count from the minimum of the field. Ours count from the smallest accepted number.
  const least = attrs['min'];
  if (typeof step === 'number' && step > 0 && typeof least === 'number' && least !== base)
    attrs['min'] = firstInSteps(least, step, base);
}

/** Returns the first number, starting at `least`, that is a whole number of steps from `base`. */
function firstInSteps(least: number, step: number, base: number): number {
  const steps = Math.ceil(Number(((least - base) / step).toPrecision(12)));
  return Number((base + steps * step).toPrecision(15));
}

/** Reads a survey as the SurveyJS creator writes it: pages of elements, whose conditions are expressions. */
export function readSurveyJs(root: SourcePart, sketch: Sketch): void {
  const ids = new Map<string, string>();
  const locale = root.text('locale') ?? '';
  if (locale !== '' && languageTagOf(locale) === undefined)
    root.part('locale').leaveOut('This is not a known language tag.');
  const language = languageTagOf(locale) ?? 'en';
  const piped = { pattern: /\{([^{}]{1,80})\}/g, find: (name: string) => ids.get(name) };
  const texts = newTexts(sketch, { language, piped, isHtml: true });
  const reading: SurveyImportContext = { sketch, texts, named: new Map(), ids, later: [] };
  const pages = root.list('pages');
  const steps = new Map<string, SketchNode>();
  for (const page of pages.length === 0 ? [root] : pages) {
    const step = addStep(sketch, page);
    const name = page.text('name');
    if (name !== undefined) steps.set(name, step);
    texts.set(step, 'title', page.part('title'));
    texts.set(step, 'description', page.part('description'));
    page.map('step');
    readSurveyLogic(page, step, reading);
    for (const list of ['elements', 'questions'])
      for (const element of page.list(list)) readElement(element, step, reading);
  }
  readCalculatedValues(root, reading);
  for (const each of reading.later) each();
  readHead(root, reading);
  readTriggers(root, reading, steps);
  texts.finish();
  if (isLocale(language) && locale !== '' && !sketch.form.attrs['languages'])
    sketch.settings['locale'] = language;
}

/** `row`: the prefix that conditions in a row use for its elements (`row.` or `panel.`). */
function readElement(part: SourcePart, parent: SketchNode, reading: SurveyImportContext, row = ''): void {
  const { sketch, texts, named, ids, matrix } = reading;
  const cellType = matrix === undefined ? 'text' : (matrix.text('cellType') ?? 'dropdown');
  const type = part.text('type') ?? part.text('cellType') ?? cellType;
  if (type === 'matrixdropdown') return readCells(part, parent, reading);
  const name = part.text('name') ?? '';
  const id = sketch.newId(name, name || part.text('title'));
  const node = createMappedElement(elements, type, part, reading, { attrs: common });
  if (typeof node === 'string') return part.leaveOut(node);
  node.attrs['id'] = id;
  if (node.attrs['label'] === 'Untitled') node.attrs['label'] = name || 'Untitled';
  // Versions before 1.9.65 write it with a capital H.
  for (const each of ['placeHolder', 'placeholder'])
    if (!['composite', 'rich_text'].includes(node.type)) texts.set(node, 'placeholder', part.part(each));
  if (part.flag('startWithNewLine') === false)
    part.part('startWithNewLine').change('Questions are shown one below the other.');
  // Elements in different rows may share a name. Outside the rows, the name means the first.
  if (!ids.has(name)) ids.set(name, id);
  const about = { node, yes: part.word('valueTrue') ?? 'true', no: part.word('valueFalse') ?? 'false' };
  if (!named.has(name)) named.set(name, about);
  if (row !== '') named.set(`${row}${name}`, about);
  addNode(sketch, parent, node, part);
  readSurveyLogic(part, node, reading);
  if (node.type !== 'composite') return;
  const inner = (list: string): string => (list === 'columns' ? 'row.' : 'panel.');
  for (const list of ['elements', 'templateElements', 'columns', 'items'])
    for (const child of part.list(list))
      readElement(
        child,
        node,
        list === 'columns' ? { ...reading, matrix: part } : reading,
        node.attrs['repeatable'] === true ? inner(list) : row,
      );
}

/** Reads a matrix whose cells are questions. Each row becomes a heading and a group of questions. */
function readCells(part: SourcePart, parent: SketchNode, reading: SurveyImportContext): void {
  const { sketch, texts, named, later } = reading;
  const name = part.text('name') ?? '';
  const heading = createNode('heading', { id: sketch.newId(undefined, name), label: name || 'Untitled' });
  texts.set(heading, 'label', part.part('title'));
  addNode(sketch, parent, heading, part);
  readSurveyLogic(part, heading, reading);
  part.change('Each row becomes a group of questions.');
  for (const row of part.list('rows')) {
    const value = row.word() ?? row.word('value') ?? '';
    const id = sketch.newId(undefined, `${name} ${value}`);
    const group = createNode('composite', { id, label: value || 'Untitled' });
    texts.set(group, 'label', row.part('text'));
    addNode(sketch, parent, group, row);
    readSurveyLogic(part, group, reading);
    // Conditions are read after all questions. In this row, they refer to the cells of this row.
    const cells = new Map<string, ReferencedElement>();
    later.push(() => cells.forEach((about, cell) => named.set(cell, about)));
    for (const column of part.list('columns')) {
      readElement(column, group, { ...reading, matrix: part }, 'row.');
      const cell = `row.${column.text('name') ?? ''}`;
      const about = named.get(cell);
      if (about) cells.set(cell, about);
    }
  }
}

function readHead(root: SourcePart, reading: SurveyImportContext): void {
  const { sketch, texts } = reading;
  const { form, settings } = sketch;
  const [step] = form.children;
  if (root.list('pages').length > 0) {
    texts.set(form, 'name', root.part('title'));
    texts.set(form, 'description', root.part('description'));
  } else if (step?.attrs['title'] !== undefined) {
    // In a survey without pages, the title of the only step is the name of the form.
    form.attrs['name'] = step.attrs['title'];
    delete step.attrs['title'];
  }
  // Texts can include answers, but the name of a form cannot.
  form.attrs['name'] = fillPiped(String(form.attrs['name']), () => '…');
  texts.setSetting('confirmation_message', root.part('completedHtml'));
  texts.setSetting('theme.submit_label', root.part('completeText'));
  const address = root.text('navigateToUrl');
  if (address) settings['redirect_url'] = address;
  const mode = root.text('questionsOnPageMode');
  if (mode === 'questionPerPage' || mode === 'inputPerPage') settings['layout'] = 'question';
  else if (mode === 'singlePage') root.part('questionsOnPageMode').leaveOut('Each page becomes a step.');
  const preview = root.text('showPreviewBeforeComplete') ?? 'noPreview';
  if (root.flag('showPreviewBeforeComplete') || preview !== 'noPreview') settings['review_step'] = true;
  if (!['noPreview', 'showAllQuestions'].includes(preview))
    root.part('showPreviewBeforeComplete').change('The review step lists all questions.');
  const confirmations = root.list('completedHtmlOnCondition').flatMap((part): object[] => {
    const when = readCondition(part.part('expression'), reading);
    const shown = createNode('confirmation');
    texts.set(shown, 'message', part.part('html'));
    return when && shown.attrs['message'] ? [{ when, ...shown.attrs }] : [];
  });
  if (confirmations.length > 0) settings['confirmations'] = confirmations;
}
