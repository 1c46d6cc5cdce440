import { own } from '#ast/json.ts';
import type { Condition } from '#ast/logic/condition.ts';
import {
  add,
  addJump,
  addStep,
  joined,
  line,
  node,
  prose,
  setTheme,
  type Sketch,
  type Sketched,
} from '../sketch.ts';
import type { Part } from '../source.ts';
import { textOfBlock } from './texts.ts';
import { makeQuestion, type OptionLabels, questionTypes } from './questions.ts';
import { readTallyCondition } from './conditions.ts';
import { readTallySettings } from './settings.ts';

/**
 * A form of Tally, as its API answers one: a list of blocks. A title stands before the question that it belongs to, and options,
 * rows and columns are blocks of their own, which share a group.
 */
export function readTally(root: Part, sketch: Sketch): void {
  const blocks = root.list('blocks');
  const name = line(root.part('name'));
  if (name) sketch.form.attrs['name'] = name;
  const reading: Reading = {
    sketch,
    step: addStep(sketch),
    title: undefined,
    made: new Map(),
    steps: [],
    rules: [],
    labels: new Map(),
  };
  for (const run of runsOf(blocks)) readRun(run, reading);
  dropTitle(reading);
  if (name && name !== sketch.form.attrs['name'])
    root.part('name').leaveOut('The form has the name that its title says.');
  for (const rule of reading.rules) readRule(rule, reading);
  readTallySettings(root.part('settings'), sketch.settings);
}

type Reading = {
  sketch: Sketch;
  step: Sketched;
  /** The title that waits for its question. */
  title: Part | undefined;
  /** What was made of a block, or of a group of them, by their ids. */
  made: Map<string, { node: Sketched; step: Sketched }>;
  /** The steps that page breaks begin, by their blocks' ids. */
  steps: { id: string; step: Sketched }[];
  rules: { part: Part; step: Sketched }[];
  labels: OptionLabels;
};

/** Blocks that are one thing: those behind each other with the same group and of the same kind. */
function runsOf(blocks: readonly Part[]): Part[][] {
  const runs: Part[][] = [];
  let last = '';
  for (const block of blocks) {
    const [type = '', group = ''] = [block.text('type'), block.text('groupUuid')];
    const kind = own(questionTypes, type)?.kind ?? type;
    const mark = `${kind} ${group}`;
    if (mark === last && group !== '') runs.at(-1)!.push(block);
    else runs.push([block]);
    last = mark;
  }
  return runs;
}

/** What a block of each other kind does; undefined is said to be left out. */
const others: Readonly<Record<string, (block: Part, reading: Reading) => void>> = {
  FORM_TITLE: (block, { sketch }) => {
    sketch.form.attrs['name'] = textOfBlock(block) ?? sketch.form.attrs['name'];
    for (const name of ['logo', 'cover'])
      if (block.part('payload').part(name).isThere) block.part('payload').part(name).leaveOut(elsewhere);
    const button = line(block.part('payload').part('button').part('label'));
    if (button) setTheme(sketch, 'submit_label', button);
    block.map('name of the form');
  },
  TITLE: (block, reading) => {
    dropTitle(reading);
    reading.title = block;
  },
  LABEL: (block, reading) => {
    dropTitle(reading);
    reading.title = block;
  },
  HEADING_1: heading,
  HEADING_2: heading,
  HEADING_3: heading,
  TEXT: (block, reading) => {
    dropTitle(reading);
    const text = textOfBlock(block, true);
    if (text !== undefined) put(block, node('rich_text', { text }), reading);
  },
  DIVIDER: (block, reading) => put(block, node('divider'), reading),
  PAGE_BREAK: (block, reading) => {
    dropTitle(reading);
    const payload = block.part('payload');
    for (const name of ['isFirst', 'isLast']) payload.flag(name);
    payload.number('index');
    if (payload.flag('isThankYouPage')) {
      // What stands behind it is shown at the end, which here is a text.
      reading.step = node('step');
      return block.change('What stands on this page is the confirmation, as a text.');
    }
    const title = line(payload.part('name'));
    reading.step = addStep(reading.sketch, title === undefined ? {} : { title }, block);
    reading.steps.push({ id: block.text('uuid') ?? '', step: reading.step });
    block.map('step');
  },
  HIDDEN_FIELDS: (block, reading) => {
    for (const part of block.part('payload').list('hiddenFields')) {
      const name = part.text('name') ?? '';
      const id = reading.sketch.newId(name, name);
      reading.made.set(part.text('uuid') ?? '', {
        node: node('hidden', { id, label: name || 'Hidden' }),
        step: reading.step,
      });
      add(reading.sketch, reading.step, reading.made.get(part.text('uuid') ?? '')!.node, part);
    }
  },
  CONDITIONAL_LOGIC: (block, { rules, step }) => void rules.push({ part: block, step }),
};

const elsewhere = 'It is at another service. Upload it in the builder.';

function heading(block: Part, reading: Reading): void {
  dropTitle(reading);
  put(block, node('heading', { label: textOfBlock(block) ?? 'Untitled' }), reading);
}

function put(block: Part, made: Sketched, reading: Reading): void {
  if (isEnding(reading)) {
    const { text = made.attrs['label'] } = made.attrs;
    const { settings } = reading.sketch;
    settings['confirmation_message'] = [settings['confirmation_message'], text].filter(Boolean).join('\n\n');
    return block.map('confirmation');
  }
  // What conditions show and hide has an id.
  if (made.type !== 'divider') made.attrs['id'] = reading.sketch.newId(undefined, made.type);
  for (const id of [block.text('uuid'), block.text('groupUuid')])
    if (id !== undefined) reading.made.set(id, { node: made, step: reading.step });
  add(reading.sketch, reading.step, made, block);
}

const isEnding = ({ step, sketch }: Reading): boolean => !sketch.form.children.includes(step);

/** A title that no question follows is a heading. */
function dropTitle(reading: Reading): void {
  const { title } = reading;
  reading.title = undefined;
  if (title) put(title, node('heading', { label: textOfBlock(title) ?? 'Untitled' }), reading);
}

function readRun(run: readonly Part[], reading: Reading): void {
  const [first] = run as [Part];
  const type = first.text('type') ?? '';
  const question = own(questionTypes, type);
  for (const block of run) {
    block.text('uuid');
    block.text('groupType');
  }
  if (question && !isEnding(reading)) return readQuestion(run, reading);
  if (Object.hasOwn(others, type)) {
    for (const block of run) others[type]!(block, reading);
    return;
  }
  for (const block of run) block.leaveOut(`There is no element like "${type.slice(0, 40)}".`);
}

function readQuestion(run: readonly Part[], reading: Reading): void {
  const { sketch, title } = reading;
  const [first] = run as [Part];
  const payload = first.part('payload');
  const label = title && textOfBlock(title);
  const name = line(payload.part('name'));
  const made = makeQuestion(run, reading.labels);
  const placeholder = prose(payload.part('placeholder'));
  const given = label ?? name ?? placeholder ?? 'Untitled';
  const id = sketch.newId(undefined, name ?? given);
  const takesPlaceholder = !['rating', 'scale', 'ranking', 'matrix', 'signature', 'picture_choice'].includes(
    made.type,
  );
  made.attrs = {
    id,
    label: given,
    ...(placeholder !== undefined && placeholder !== given && takesPlaceholder && { placeholder }),
    ...(run.some((block) => block.part('payload').flag('isRequired')) && { required: true }),
    ...made.attrs,
  };
  if (payload.flag('isHidden'))
    payload.part('isHidden').change('It is shown: what shows it is a condition here.');
  const kept = { node: made, step: reading.step };
  for (const block of [...(title ? [title] : []), ...run])
    for (const each of [block.text('uuid'), block.text('groupUuid')])
      if (each !== undefined) reading.made.set(each, kept);
  title?.map(`label of "${id}"`);
  reading.title = undefined;
  add(sketch, reading.step, made, first);
}

/** What is done where a condition holds: blocks are shown, hidden or required, and pages are gone to. */
function readRule({ part, step }: Reading['rules'][number], reading: Reading): void {
  const payload = part.part('payload');
  const when = readTallyCondition(payload, (id) => reading.made.get(id)?.node, reading.labels);
  if (!when) return part.leaveOut('Its condition cannot be said here.');
  for (const action of payload.list('actions')) {
    action.text('uuid');
    const inside = action.part('payload');
    const attribute = own(attributes, action.text('type') ?? '');
    if (attribute) applyTo(inside.list(attribute.list), attribute.name, when, reading);
    else if (action.text('type') === 'JUMP_TO_PAGE') readJump(inside.part('jumpToPage'), step, when, reading);
    else action.leaveOut('There is no such action here.');
  }
}

const attributes: Readonly<Record<string, { list: string; name: string }>> = {
  SHOW_BLOCKS: { list: 'showBlocks', name: 'show_when' },
  HIDE_BLOCKS: { list: 'hideBlocks', name: 'hide_when' },
  REQUIRE_ANSWER: { list: 'requireAnswer', name: 'require_when' },
};

function applyTo(parts: readonly Part[], name: string, when: Condition, reading: Reading): void {
  const done = new Set<Sketched>();
  for (const part of parts) {
    const found = reading.made.get(part.text() ?? '');
    if (!found) {
      part.leaveOut('There is no such block.');
      continue;
    }
    if (done.has(found.node)) continue;
    done.add(found.node);
    const before = found.node.attrs[name] as Condition | undefined;
    found.node.attrs[name] = joined('any', before ? [before, when] : [when]);
  }
}

function readJump(part: Part, step: Sketched, when: Condition, reading: Reading): void {
  const page = part.text() ?? part.word();
  const target = reading.steps.find(({ id }) => id === page) ?? reading.steps[Number(page) - 2];
  if (!target) return part.leaveOut('There is no such page.');
  target.step.attrs['id'] ??= reading.sketch.newId(
    `step_${reading.sketch.form.children.indexOf(target.step) + 1}`,
  );
  addJump(step, { when, to: String(target.step.attrs['id']) });
}
