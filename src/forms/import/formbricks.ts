import { getProperty } from '#ast/basics/json.ts';
import { isLocale } from '#ast/basics/language-tags.ts';
import {
  conditionNameOf,
  type FormbricksImportContext,
  fileExtensionsOf,
  readFormbricksLogic,
  readRules,
} from './formbricks-logic.ts';
import { lineOfHtml } from './html.ts';
import {
  applyEndScreens,
  type EndScreen,
  otherAnswerKey,
  type ReferencedElement,
} from './imported-conditions.ts';
import { languageTagOf, newTexts } from './imported-texts.ts';
import {
  addGroupDescription,
  createMappedElement,
  type ElementMapping,
  type ElementMappings,
  leftOutReasons,
  mapWord,
  readFlaggedLimit,
} from './importer-table.ts';
import { addNode, addStep, createNode, type Sketch, type SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';

const buttons = 'The page has its own button labels.';
const common = {
  attrs: { label: 'headline', help_text: 'subheader', required: 'required' },
  lost: {
    imageUrl: leftOutReasons.elsewhere,
    videoUrl: leftOutReasons.elsewhere,
    buttonLabel: buttons,
    backButtonLabel: buttons,
    isDraft: 'The draft question is imported.',
    isColorCodingEnabled: 'Levels use the colors of the theme.',
    insightsEnabled: 'Insights are not supported.',
    otherOptionPlaceholder: leftOutReasons.otherText,
  },
};

const selection = (
  type: ElementMapping['type'],
  attrs: ElementMapping['attrs'] = {},
): ElementMapping<FormbricksImportContext> => ({ type, attrs, finish: readChoices });
const group: ElementMapping<FormbricksImportContext> = { type: 'composite', finish: readGroup };
const levels = { low_label: 'lowerLabel', high_label: 'upperLabel' };

const elements: ElementMappings<FormbricksImportContext> = {
  openText: {
    type: (part) => {
      const type = getProperty(inputTypes, part.text('inputType') ?? 'text') ?? 'text';
      return part.flag('longAnswer') && type === 'text' ? 'textarea' : type;
    },
    attrs: {
      placeholder: 'placeholder',
      min_length: readFlaggedLimit('charLimit.min', 'charLimit.enabled'),
      max_length: readFlaggedLimit('charLimit.max', 'charLimit.enabled'),
    },
    finish: (part) => {
      part.skip('charLimit.enabled');
    },
  },
  multipleChoiceSingle: selection((part) => (part.text('displayType') === 'dropdown' ? 'dropdown' : 'radio')),
  multipleChoiceMulti: selection('multiple_choice'),
  ranking: selection('ranking'),
  pictureSelection: selection('picture_choice', { multiple: 'allowMulti' }),
  nps: { type: 'scale', attrs: { from: () => 0, to: () => 10, ...levels } },
  rating: {
    type: 'rating',
    attrs: {
      ...levels,
      levels: 'range',
      symbol: mapWord('scale', { star: 'stars', number: 'numbers' }, leftOutReasons.stars),
    },
  },
  consent: {
    type: 'consent',
    attrs: { statement: 'label' },
    finish: (part, node, { texts }) =>
      texts.set(node, 'help_text', [part.part('subheader'), part.part('html')]),
  },
  cta: {
    type: 'rich_text',
    lost: { required: 'A text element cannot be required.', dismissButtonLabel: buttons },
    finish: readCta,
  },
  date: {
    type: 'date',
    lost: { format: 'The language of the page determines the date format.' },
    finish: (part, node, { texts }) =>
      texts.set(node, 'help_text', [part.part('subheader'), part.part('html')]),
  },
  fileUpload: {
    type: 'file_upload',
    attrs: {
      max_files: (part) => (part.flag('allowMultipleFiles') ? 10 : 1),
      max_file_size: (part) => {
        const megabytes = part.number('maxSizeInMB');
        return megabytes === undefined ? undefined : Math.round(megabytes * 1024 * 1024);
      },
      accept: (part) => fileExtensionsOf(part.list('allowedFileExtensions')),
    },
  },
  matrix: { type: 'matrix', finish: readMatrix },
  address: group,
  contactInfo: group,
};

const inputTypes: Readonly<Record<string, string>> = {
  text: 'text',
  email: 'email',
  url: 'url',
  number: 'number',
  phone: 'phone',
};

/** The fields of an address and of contact details, with the labels to use if the survey has none. */
const groupFields: Readonly<Record<string, readonly [type: string, label: string]>> = {
  firstName: ['text', 'First name'],
  lastName: ['text', 'Last name'],
  email: ['email', 'Email'],
  phone: ['phone', 'Phone'],
  company: ['text', 'Company'],
  addressLine1: ['text', 'Address line 1'],
  addressLine2: ['text', 'Address line 2'],
  city: ['text', 'City'],
  state: ['text', 'State'],
  zip: ['text', 'ZIP'],
  country: ['text', 'Country'],
};

function readChoices(part: SourcePart, node: SketchNode, { texts, named }: FormbricksImportContext): void {
  const choices = new Map<string, string>();
  const plain = part.list('choices').filter((choice) => {
    if (choice.text('id') === 'none' && node.type === 'multiple_choice')
      part.change(leftOutReasons.noneAlone);
    if (choice.text('id') !== 'other') return true;
    if (node.type === 'ranking') choice.leaveOut('A ranking does not support an “Other” answer.');
    else node.attrs['other'] = true;
    choices.set('other', otherAnswerKey);
    choice.part('label').leaveOut(leftOutReasons.otherText);
    return false;
  });
  const isPicture = node.type === 'picture_choice';
  const ids = texts.setOptions(node, 'options', plain, (choice) => {
    choice.part('imageUrl').leaveOut(leftOutReasons.elsewhere);
    return { label: isPicture ? `Picture ${plain.indexOf(choice) + 1}` : choice.part('label') };
  });
  if (isPicture) part.change(leftOutReasons.pictures);
  for (const [choice, id] of ids) choices.set(choice.text('id') ?? '', id);
  const order = part.text('shuffleOption');
  if (order === 'all') node.attrs['shuffle'] = true;
  else if (order !== undefined && order !== 'none')
    part.part('shuffleOption').leaveOut(leftOutReasons.ordered);
  named.set(conditionNameOf(part), { node, choices });
}

/** Rows and columns are localized texts, or objects with an id and a localized label. */
function readMatrix(part: SourcePart, node: SketchNode, { texts, named }: FormbricksImportContext): void {
  const read = (each: SourcePart) => {
    each.skip('id');
    return { label: each.part('label').isThere ? each.part('label') : each };
  };
  const [rows, columns] = [part.list('rows'), part.list('columns')];
  const rowIds = texts.setOptions(node, 'rows', rows, read);
  const ids = texts.setOptions(node, 'options', columns, read);
  const indexed = (parts: readonly SourcePart[], found: ReadonlyMap<SourcePart, string>) =>
    new Map(parts.flatMap((each, at) => (found.has(each) ? [[String(at), found.get(each)!] as const] : [])));
  if (!['none', undefined].includes(part.text('shuffleOption')))
    part.part('shuffleOption').leaveOut(leftOutReasons.ordered);
  named.set(conditionNameOf(part), { node, choices: indexed(columns, ids), rows: indexed(rows, rowIds) });
}

/** Reads a text with a button. A button can only open a link. */
function readCta(part: SourcePart, node: SketchNode, { texts }: FormbricksImportContext): void {
  texts.set(
    node,
    'text',
    ['headline', 'subheader', 'html'].map((name) => part.part(name)),
  );
  const address = part.text('buttonUrl') ?? '';
  const label = texts.read(part.part('ctaButtonLabel')) ?? address;
  if (part.flag('buttonExternal') === false) return part.part('buttonUrl').leaveOut(leftOutReasons.off);
  if (!/^https?:\/\/[^\s()]+$/.test(address))
    return part.part('buttonUrl').leaveOut('This is not a valid web address.');
  const link = (text: unknown): string => `${String(text)}\n\n[${label}](${address})`;
  node.attrs['text'] = link(node.attrs['text'] ?? '');
  const translations = (node.attrs['translations'] ?? {}) as Record<string, Record<string, unknown>>;
  for (const texts of Object.values(translations)) texts['text'] = link(texts['text']);
}

/** If the question is required but none of its fields is, all its fields become required. */
function readGroup(part: SourcePart, node: SketchNode, reading: FormbricksImportContext): void {
  const { sketch, texts } = reading;
  const fields = part.parts().filter(({ name }) => Object.hasOwn(groupFields, name));
  const shown = fields.filter((field) => field.flag('show') !== false);
  for (const field of fields) if (!shown.includes(field)) field.leaveOut(leftOutReasons.off);
  const isRequired = part.flag('required') && !shown.some((field) => field.flag('required'));
  if (part.flag('required') && !isRequired) part.part('required').map('required fields');
  addGroupDescription(part.part('subheader'), node, reading);
  for (const field of shown) {
    const [type, label] = groupFields[field.name]!;
    const child = createNode(type, {
      id: sketch.newId(undefined, `${part.text('id') ?? ''} ${field.name}`),
      label,
    });
    texts.set(child, 'label', field.part('placeholder'));
    if (field.flag('required') || isRequired) child.attrs['required'] = true;
    addNode(sketch, node, child, field);
  }
}

/**
 * Reads a Formbricks survey as its management API returns it: `questions`, or the newer `blocks` of elements.
 */
export function readFormbricks(document: SourcePart, sketch: Sketch): void {
  const root = document.part('data').isThere ? document.part('data') : document;
  const ids = new Map<string, string>();
  const piped = { pattern: /#recall:([\w-]{1,80})\/fallback:[^#]*#/g, find: (name: string) => ids.get(name) };
  const texts = newTexts(sketch, { isHtml: true, piped, language: readLanguage(root, sketch) });
  const reading: FormbricksImportContext = {
    sketch,
    texts,
    ids,
    named: new Map<string, ReferencedElement>(),
    steps: new Map<string, SketchNode>(),
    endings: new Map<string, EndScreen>(),
    variables: new Map(),
  };
  const isBlocks = root.list('blocks').length > 0;
  const blocks = root.list(isBlocks ? 'blocks' : 'questions');
  const elementsOf = (block: SourcePart): SourcePart[] => (isBlocks ? block.list('elements') : [block]);
  for (const part of blocks.flatMap(elementsOf)) {
    const id = part.text('id') ?? '';
    ids.set(id, sketch.newId(id, lineOfHtml(part.text('headline.default') ?? '')));
  }
  readHead(root, reading);
  let step = addStep(sketch);
  if (root.flag('hiddenFields.enabled') === false) root.part('hiddenFields').leaveOut(leftOutReasons.off);
  else for (const part of root.list('hiddenFields.fieldIds')) readHidden(part, step, reading);
  for (const part of root.list('variables')) readVariable(part, reading);
  const targets = new Set(
    blocks.flatMap((block) => [
      block.text('logicFallback'),
      ...block.list('logic').flatMap((rule) => rule.list('actions').map((action) => action.text('target'))),
    ]),
  );
  let isClosed = false;
  for (const block of blocks) {
    const id = block.text('id') ?? '';
    if (step.children.length > 0 && (isBlocks || isClosed || targets.has(id))) step = addStep(sketch, block);
    reading.steps.set(id, step);
    if (isBlocks) for (const name of ['buttonLabel', 'backButtonLabel']) block.part(name).leaveOut(buttons);
    for (const part of elementsOf(block)) readElement(part, step, reading);
    isClosed = block.list('logic').length > 0 || block.part('logicFallback').isThere;
  }
  for (const block of blocks) readFormbricksLogic(block, reading.steps.get(block.text('id') ?? '')!, reading);
  for (const { part, node, step: last } of reading.variables.values())
    addNode(sketch, last ?? step, node, part);
  applyEndScreens(sketch, [...reading.endings.values()]);
  texts.finish();
}

function readElement(part: SourcePart, step: SketchNode, reading: FormbricksImportContext): void {
  const { sketch, ids, named } = reading;
  const node = createMappedElement(elements, part.text('type') ?? '', part, reading, common);
  if (typeof node === 'string') return part.leaveOut(node);
  if (node.type !== 'rich_text') {
    node.attrs['id'] = ids.get(part.text('id') ?? '');
    if (!named.has(conditionNameOf(part)) && node.type !== 'composite')
      named.set(conditionNameOf(part), { node });
  }
  readRules(part, node, reading);
  addNode(sketch, step, node, part);
}

/** Returns the default language of the texts. */
function readLanguage(root: SourcePart, { settings }: Sketch): string {
  const languages = root.list('languages');
  let main = 'en';
  for (const each of languages) {
    const code = each.part('language.code');
    const tag = languageTagOf(code.text() ?? '');
    each.skip('language.id');
    if (tag === undefined) code.leaveOut('This is not a known language tag.');
    if (each.flag('default') !== true) {
      if (each.flag('enabled') === false)
        each.part('enabled').change('This language is available to visitors.');
      continue;
    }
    main = tag ?? main;
    if (each.flag('enabled')) each.part('enabled').map(`language "${main}"`);
    if (languages.length === 1 && isLocale(tag)) settings['locale'] = tag;
  }
  return main;
}

const apart = 'Surveys inside an app are not supported. Link to the form, or embed it.';
const lostSettings: Readonly<Record<string, string>> = {
  status: 'The form is imported as a draft.',
  type: apart,
  displayOption: apart,
  triggers: apart,
  segment: apart,
  pin: 'Set the password again under Settings.',
  followUps: 'Add it again under Settings.',
  styling: 'Set the theme in the builder.',
};

function readHead(
  root: SourcePart,
  { sketch: { form, settings }, texts, endings }: FormbricksImportContext,
): void {
  texts.set(form, 'name', root.part('name'));
  const welcome = root.part('welcomeCard');
  if (welcome.flag('enabled') === false) welcome.leaveOut(leftOutReasons.off);
  else {
    texts.set(
      form,
      'description',
      ['headline', 'subheader', 'html'].map((name) => welcome.part(name)),
    );
    if (welcome.isThere) welcome.change('It becomes the description of the form.');
    welcome.part('fileUrl').leaveOut(leftOutReasons.elsewhere);
    welcome.part('buttonLabel').leaveOut(buttons);
    for (const name of ['timeToFinish', 'showResponseCount'])
      welcome.leaveOutIf(name, 'This number is not shown to visitors.');
  }
  for (const [path, why] of Object.entries(lostSettings)) root.leaveOutIf(path, why);
  const most = root.number('autoComplete');
  if (most !== undefined) settings['max_submissions'] = most;
  for (const [name, setting] of [
    ['runOnDate', 'opens_at'],
    ['closeOnDate', 'closes_at'],
  ] as const) {
    const at = Date.parse(root.text(name) ?? '');
    if (Number.isNaN(at)) root.part(name).leaveOut('This is not a valid time. Set it under Settings.');
    else settings[setting] = new Date(at).toISOString();
  }
  const closed = root.part('surveyClosedMessage');
  if (closed.flag('enabled') === false) closed.leaveOut(leftOutReasons.off);
  else texts.setSetting('closed_message', [closed.part('heading'), closed.part('subheading')]);
  if (root.list('questions').length > 0) settings['layout'] = 'question';
  for (const part of root.list('endings')) {
    const node = createNode('confirmation');
    const [type, address, message] = [part.text('type'), part.text('url'), part.part('subheader')];
    if (type !== 'endScreen' && type !== 'redirectToUrl')
      part.part('type').leaveOut('This type of ending is not supported.');
    // A conditional confirmation has a message or an address.
    texts.set(node, endings.size > 0 && !message.isThere ? 'message' : 'title', part.part('headline'));
    texts.set(node, 'message', message);
    if (address) node.attrs['redirect_url'] = address;
    part.part('imageUrl').leaveOut(leftOutReasons.elsewhere);
    endings.set(part.text('id') ?? '', { part, node, when: [], isUsual: endings.size === 0 });
  }
}

function readHidden(
  part: SourcePart,
  step: SketchNode,
  { sketch, named, ids }: FormbricksImportContext,
): void {
  const name = part.text() ?? '';
  const node = createNode('hidden', { id: sketch.newId(name, name), label: name || 'Hidden' });
  ids.set(name, String(node.attrs['id']));
  named.set(`hiddenField ${name}`, { node });
  addNode(sketch, step, node, part);
}

/** A numeric variable becomes a hidden calculation. Logic changes its formula. */
function readVariable(part: SourcePart, { sketch, named, ids, variables }: FormbricksImportContext): void {
  const [id = '', name = '', start] = [part.text('id'), part.text('name'), part.number('value')];
  if (part.text('type') !== 'number' || start === undefined) return part.leaveOut(leftOutReasons.variable);
  const node = createNode('calculation', {
    id: sketch.newId(name, name),
    label: name || 'Variable',
    hidden: true,
  });
  node.attrs['formula'] = String(start);
  ids.set(id, String(node.attrs['id']));
  named.set(`variable ${id}`, { node });
  variables.set(id, { part, node, step: undefined });
}
