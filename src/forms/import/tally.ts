import { getProperty } from '#ast/basics/json.ts';
import { formLimits } from '#ast/basics/limits.ts';
import { otherAnswerKey, type ReferencedElement } from './imported-conditions.ts';
import { newTexts, type Texts } from './imported-texts.ts';
import {
  createMappedElement,
  type ElementMappings,
  leftOutReasons,
  readFlaggedLimit,
  readNumberOr,
} from './importer-table.ts';
import { addNode, addStep, attributeSpecsOf, createNode, type Sketch, type SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';
import { readRule, readTallySettings, type TallyImportContext } from './tally-logic.ts';

/**
 * Reads a Tally form as its API returns it: a list of blocks. A title precedes its question. Options, rows
 * and columns are separate blocks that share a group.
 */
export function readTally(root: SourcePart, sketch: Sketch): void {
  const texts = newTexts(sketch, { isHtml: true });
  const { form } = sketch;
  texts.set(form, 'name', root.part('name'));
  const { name } = form.attrs;
  const reading: TallyImportContext = {
    sketch,
    texts,
    named: new Map<string, ReferencedElement>(),
    step: addStep(sketch),
    title: undefined,
    run: [],
    pages: [],
    rules: [],
  };
  for (const run of runsOf(root.list('blocks'))) readRun(run, reading);
  dropTitle(reading);
  if (name !== form.attrs['name']) root.part('name').leaveOut('The title is the name of the form.');
  for (const rule of reading.rules) readRule(rule, reading);
  readTallySettings(root.part('settings'), reading);
}

const characters = {
  min_length: readFlaggedLimit('payload.minCharacters', 'payload.hasMinCharacters'),
  max_length: readFlaggedLimit('payload.maxCharacters', 'payload.hasMaxCharacters'),
};
const selection = (type: string, isSeveral = type) => ({
  type: (block: SourcePart) => (block.flag('payload.allowMultiple') === true ? isSeveral : type),
  attrs: {
    min_choices: readFlaggedLimit('payload.minChoices', 'payload.hasMinChoices'),
    max_choices: readFlaggedLimit('payload.maxChoices', 'payload.hasMaxChoices'),
    shuffle: 'payload.randomize',
  },
  finish: readChoices,
});
const matrix = { type: 'matrix', finish: readMatrix };

/** Question blocks by type. */
const questions: ElementMappings<TallyImportContext> = {
  INPUT_TEXT: { type: 'text', attrs: characters },
  TEXTAREA: { type: 'textarea', attrs: characters },
  INPUT_EMAIL: { type: 'email', attrs: characters },
  INPUT_PHONE_NUMBER: { type: 'phone', attrs: characters },
  INPUT_LINK: { type: 'url', attrs: characters },
  INPUT_NUMBER: {
    type: 'number',
    attrs: {
      min: readFlaggedLimit('payload.minNumber', 'payload.hasMinNumber'),
      max: readFlaggedLimit('payload.maxNumber', 'payload.hasMaxNumber'),
    },
  },
  INPUT_DATE: { type: 'date' },
  INPUT_TIME: { type: 'time' },
  SIGNATURE: { type: 'signature' },
  FILE_UPLOAD: {
    type: 'file_upload',
    attrs: {
      accept: (block) => {
        const families = block.part('payload.allowedFiles').parts();
        const accept = families.flatMap((family) => family.list().flatMap((ending) => ending.text() ?? []));
        return accept.length > 0 ? accept : undefined;
      },
      min_files: readFlaggedLimit('payload.minFiles', 'payload.hasMinFiles'),
      max_files: (block) => {
        if (block.flag('payload.hasMultipleFiles') !== true) return 1;
        return readFlaggedLimit('payload.maxFiles', 'payload.hasMaxFiles')(block) ?? 10;
      },
      max_file_size: (block) => {
        const megabytes = readFlaggedLimit('payload.maxFileSize', 'payload.hasMaxFileSize')(block);
        return megabytes === undefined ? undefined : Math.round(megabytes * 1024 * 1024);
      },
    },
  },
  RATING: { type: 'rating', attrs: { levels: 'payload.stars' } },
  LINEAR_SCALE: {
    type: 'scale',
    attrs: { from: readNumberOr('payload.start', 0), to: readNumberOr('payload.end', 10) },
    finish: (block, node, { texts }) => {
      const step = block.part('payload.step');
      if ((step.number() ?? 1) !== 1) step.change('Every number in the range can be chosen.');
      for (const [name, label] of Object.entries({ leftLabel: 'low_label', rightLabel: 'high_label' })) {
        const isOff = block.flag(`payload.has${name[0]!.toUpperCase()}${name.slice(1)}`) === false;
        if (isOff) block.part(`payload.${name}`).leaveOut(leftOutReasons.off);
        else texts.set(node, label, block.part(`payload.${name}`));
      }
    },
  },
  MULTIPLE_CHOICE_OPTION: selection('radio', 'multiple_choice'),
  CHECKBOX: selection('multiple_choice'),
  DROPDOWN_OPTION: selection('dropdown'),
  MULTI_SELECT_OPTION: selection('multiple_choice'),
  RANKING_OPTION: selection('ranking'),
  MATRIX: matrix,
  MATRIX_ROW: matrix,
  MATRIX_COLUMN: matrix,
};

/** Groups the blocks that form one question: adjacent blocks of one group and one kind. */
function runsOf(blocks: readonly SourcePart[]): SourcePart[][] {
  const runs: SourcePart[][] = [];
  let last = '';
  for (const block of blocks) {
    const [type = '', group = ''] = [block.text('type'), block.text('groupUuid')];
    const mark = `${getProperty(questions, type) === matrix ? 'MATRIX' : type} ${group}`;
    if (mark === last && group !== '' && Object.hasOwn(questions, type)) runs.at(-1)!.push(block);
    else runs.push([block]);
    last = mark;
  }
  return runs;
}

function readRun(run: readonly SourcePart[], reading: TallyImportContext): void {
  const [first] = run as [SourcePart];
  const type = first.text('type') ?? '';
  for (const block of run) block.skip('uuid', 'groupType');
  if (Object.hasOwn(questions, type) && !isAfterEnd(reading)) readQuestion(type, run, reading);
  else if (Object.hasOwn(others, type)) others[type]!(first, reading);
  else for (const block of run) block.leaveOut(`No element type matches "${type.slice(0, 40)}".`);
}

function readQuestion(type: string, run: readonly SourcePart[], reading: TallyImportContext): void {
  const { sketch, texts, title } = reading;
  const [first] = run as [SourcePart];
  reading.run = run;
  const node = createMappedElement(questions, type, first, reading);
  if (typeof node === 'string') return first.leaveOut(node);
  const name = texts.read(first.part('payload.name'), formLimits.labelBytes);
  const placeholder = texts.read(first.part('payload.placeholder'));
  const label = (title && textOfBlock(title, texts)) ?? name ?? placeholder ?? 'Untitled';
  const id = sketch.newId(undefined, name ?? label);
  const hasPlaceholder =
    placeholder !== undefined && placeholder !== label && 'placeholder' in attributeSpecsOf(node.type);
  const required = run.some((block) => block.flag('payload.isRequired')) || undefined;
  const { attrs } = createNode('', {
    id,
    label,
    placeholder: hasPlaceholder ? placeholder : undefined,
    required,
  });
  node.attrs = { ...node.attrs, ...attrs };
  if (first.flag('payload.isHidden'))
    first.part('payload.isHidden').change('The question is shown. Hide it with a condition.');
  const found = reading.named.get(first.text('uuid') ?? '');
  const about = found?.node === node ? found : { node };
  for (const block of [...(title ? [title] : []), ...run]) recordBlock(block, about, reading);
  title?.map(`label of "${id}"`);
  reading.title = undefined;
  addNode(sketch, reading.step, node, first);
}

/** Records what a block and its group became, for conditions. */
function recordBlock(block: SourcePart, about: ReferencedElement, { named }: TallyImportContext): void {
  for (const id of [block.text('uuid'), block.text('groupUuid')]) if (id !== undefined) named.set(id, about);
}

function readChoices(first: SourcePart, node: SketchNode, { texts, run, named }: TallyImportContext): void {
  const choices = new Map<string, string>();
  const plain = run.filter((block) => {
    const inside = block.part('payload');
    inside.skip('isFirst', 'isLast', 'hasOtherOption', 'index');
    inside.part('image').leaveOut(leftOutReasons.elsewhere);
    if (inside.flag('isOtherOption') !== true) return true;
    if (node.type !== 'ranking') node.attrs['other'] = true;
    else block.leaveOut('A ranking does not support an “Other” answer.');
    choices.set(block.text('uuid') ?? '', otherAnswerKey);
    if (inside.text('text') !== undefined) block.change(leftOutReasons.otherText);
    return false;
  });
  const read = (block: SourcePart) => ({ label: textOfBlock(block, texts) });
  for (const [block, id] of texts.setOptions(node, 'options', plain, read))
    choices.set(block.text('uuid') ?? '', id);
  named.set(first.text('uuid') ?? '', { node, choices });
}

function readMatrix(_first: SourcePart, node: SketchNode, { texts, run }: TallyImportContext): void {
  const of = (type: string): SourcePart[] => run.filter((block) => block.text('type') === type);
  const read = (block: SourcePart) => {
    block.part('payload').skip('isFirst', 'isLast', 'index');
    return { label: textOfBlock(block, texts) };
  };
  texts.setOptions(node, 'rows', of('MATRIX_ROW'), read);
  texts.setOptions(node, 'options', of('MATRIX_COLUMN'), read);
  if (run.some((block) => block.flag('payload.allowMultiple'))) node.attrs['multiple'] = true;
}

const title = (block: SourcePart, reading: TallyImportContext): void => {
  dropTitle(reading);
  reading.title = block;
};

const heading = (block: SourcePart, reading: TallyImportContext): void => {
  dropTitle(reading);
  put(block, createNode('heading', { label: textOfBlock(block, reading.texts) ?? 'Untitled' }), reading);
};

/** Reads each other type of block. */
const others: Readonly<Record<string, (block: SourcePart, reading: TallyImportContext) => void>> = {
  FORM_TITLE: (block, { sketch: { form }, texts }) => {
    form.attrs['name'] = textOfBlock(block, texts) ?? form.attrs['name'];
    for (const name of ['logo', 'cover']) block.part(`payload.${name}`).leaveOut(leftOutReasons.elsewhere);
    texts.setSetting('theme.submit_label', block.part('payload.button.label'));
    block.map('name of the form');
  },
  TITLE: title,
  LABEL: title,
  HEADING_1: heading,
  HEADING_2: heading,
  HEADING_3: heading,
  TEXT: (block, reading) => {
    dropTitle(reading);
    const text = textOfBlock(block, reading.texts, formLimits.richTextBytes);
    if (text !== undefined) put(block, createNode('rich_text', { text }), reading);
  },
  DIVIDER: (block, reading) => put(block, createNode('divider'), reading),
  PAGE_BREAK: (block, reading) => {
    dropTitle(reading);
    const payload = block.part('payload');
    payload.skip('isFirst', 'isLast', 'index');
    if (payload.flag('isThankYouPage')) {
      // A step outside the form collects the texts of the confirmation.
      reading.step = createNode('step');
      return block.change('The text of this page becomes the confirmation.');
    }
    reading.step = addStep(reading.sketch, block);
    reading.texts.set(reading.step, 'title', payload.part('name'));
    reading.pages.push({ id: block.text('uuid') ?? '', step: reading.step });
    block.map('step');
  },
  HIDDEN_FIELDS: (block, { sketch, named, step }) => {
    for (const part of block.list('payload.hiddenFields')) {
      const name = part.text('name') ?? '';
      const node = createNode('hidden', { id: sketch.newId(name, name), label: name || 'Hidden' });
      named.set(part.text('uuid') ?? '', { node });
      addNode(sketch, step, node, part);
    }
  },
  CONDITIONAL_LOGIC: (block, { rules, step }) => void rules.push({ part: block, step }),
};

function put(block: SourcePart, node: SketchNode, reading: TallyImportContext): void {
  if (isAfterEnd(reading)) {
    const { text = node.attrs['label'] } = node.attrs;
    const { settings } = reading.sketch;
    settings['confirmation_message'] = [settings['confirmation_message'], text].filter(Boolean).join('\n\n');
    return block.map('confirmation');
  }
  // Conditions can show and hide only elements that have an id.
  if (node.type !== 'divider') node.attrs['id'] = reading.sketch.newId(undefined, node.type);
  recordBlock(block, { node }, reading);
  addNode(reading.sketch, reading.step, node, block);
}

const isAfterEnd = ({ step, sketch }: TallyImportContext): boolean => !sketch.form.children.includes(step);

/** Turns a title without a question into a heading. */
function dropTitle(reading: TallyImportContext): void {
  const { title } = reading;
  reading.title = undefined;
  if (title) heading(title, reading);
}

/**
 * Returns the text of a block. Programs that create a form send `html`. The API returns pieces, each with its
 * formatting: `[["Read "], ["this", [["tag", "a"], ["href", "https://…"]]]]`. Options have a plain `text`.
 */
function textOfBlock(
  block: SourcePart,
  texts: Texts,
  most: number = formLimits.labelBytes,
): string | undefined {
  const payload = block.part('payload');
  // The title repeats the text without formatting.
  payload.skip('title');
  const [html, pieces] = [payload.part('html'), payload.part('safeHTMLSchema')];
  const part = [html, pieces, payload.part('title')].find(({ isThere }) => isThere) ?? payload.part('text');
  const text = part === pieces ? pieces.parts().map(htmlOfPiece).join('') : (part.word() ?? '');
  return texts.write(part, text, most, most === formLimits.richTextBytes) || undefined;
}

/**
 * Reads the formatting that our texts support. Other formatting, such as `color`, stays unread, so the report
 * lists it.
 */
function htmlOfPiece(piece: SourcePart): string {
  const [content, marks] = piece.parts();
  const inner = content?.parts() ?? [];
  const text =
    inner.length > 0 ? inner.map(htmlOfPiece).join('') : escaped(content?.word() ?? piece.text() ?? '');
  return (marks?.parts() ?? []).reduce((html, mark) => {
    const [name, value] = mark.parts();
    const wrap = getProperty(styles, name?.text() ?? '')?.(value?.text() ?? '');
    return wrap === undefined ? html : `<${wrap}>${html}</${wrap.split(' ')[0]}>`;
  }, text);
}

/** The HTML element for each kind of formatting; undefined if it changes nothing. */
const styles: Readonly<Record<string, (value: string) => string | undefined>> = {
  tag: () => undefined,
  'font-weight': (value) => (value === 'bold' || Number(value) >= 600 ? 'b' : undefined),
  href: (value) => `a href="${escaped(value)}"`,
};

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`).replaceAll('\n', '<br>');
