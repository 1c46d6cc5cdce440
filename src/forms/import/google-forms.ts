import { own } from '#ast/json.ts';
import type { Condition, Jump } from '#ast/logic/condition.ts';
import { addScore } from './score.ts';
import {
  add,
  addJump,
  addStep,
  line,
  node,
  optionsOf,
  otherChosen,
  prose,
  type Sketch,
  type Sketched,
} from './sketch.ts';
import type { Part } from './source.ts';

/**
 * A form of Google Forms, as its API answers one (`forms.get`): items one after the other, of which a page break begins the next
 * page. Options lead to the page of an item's id, or to the end.
 */
export function readGoogleForms(root: Part, sketch: Sketch): void {
  const info = root.part('info');
  const title = line(info.part('documentTitle'));
  sketch.form.attrs['name'] = line(info.part('title')) ?? title ?? 'Imported form';
  const description = prose(info.part('description'));
  if (description) sketch.form.attrs['description'] = description;
  const items = root.list('items');
  const steps = new Map<string, string>();
  for (const item of items)
    if (item.part('pageBreakItem').isThere || kindOf(item) === 'pageBreakItem')
      steps.set(item.text('itemId') ?? '', sketch.newId(undefined, item.text('title') ?? 'page'));
  let step = addStep(sketch);
  readEmail(root, step, sketch);
  for (const item of items) {
    const kind = kindOf(item);
    if (kind !== 'pageBreakItem') readItem(item, kind, step, { sketch, steps });
    else {
      const texts = { title: line(item.part('title')), description: prose(item.part('description')) };
      step = addStep(
        sketch,
        node('step', { id: steps.get(item.text('itemId') ?? ''), ...texts }).attrs,
        item,
      );
      item.map('step');
    }
  }
  const quiz = root.part('settings').part('quizSettings');
  if (quiz.flag('isQuiz')) addScore(sketch, 'score', quiz);
}

type Reading = { sketch: Sketch; steps: ReadonlyMap<string, string> };

const kinds = [
  'questionItem',
  'questionGroupItem',
  'pageBreakItem',
  'textItem',
  'imageItem',
  'videoItem',
] as const;
type Kind = (typeof kinds)[number];

/** An item is what it has; the value may be empty. */
const kindOf = (item: Part): Kind | undefined =>
  kinds.find((kind) => item.parts().some(({ name }) => name === kind));

function readEmail(root: Part, step: Sketched, sketch: Sketch): void {
  const part = root.part('settings').part('emailCollectionType');
  const way = part.text();
  if (way === undefined || way === 'DO_NOT_COLLECT' || way === 'EMAIL_COLLECTION_TYPE_UNSPECIFIED') return;
  add(sketch, step, node('email', { id: sketch.newId('email'), label: 'Email', required: true }), part);
  part.change('The address is asked for; nobody vouches for it.');
}

function readItem(item: Part, kind: Kind | undefined, step: Sketched, reading: Reading): void {
  const { sketch } = reading;
  const texts = { label: line(item.part('title')), help_text: prose(item.part('description')) };
  const id = sketch.newId(undefined, texts.label ?? item.text('itemId') ?? '');
  item.text('itemId');
  if (kind === 'questionItem') {
    const inside = item.part('questionItem');
    if (inside.part('image').isThere) inside.part('image').leaveOut(elsewhere);
    readQuestion(item, { id, label: texts.label ?? 'Untitled', help_text: texts.help_text }, step, reading);
  } else if (kind === 'questionGroupItem') readGrid(item, { id, ...texts }, step, sketch);
  else if (kind === 'textItem') {
    const text = [texts.label && `## ${texts.label}`, texts.help_text].filter(Boolean).join('\n\n');
    add(sketch, step, node('rich_text', { text: text || 'Untitled' }), item);
  } else
    item.leaveOut(kind === 'imageItem' || kind === 'videoItem' ? elsewhere : 'There is no element like it.');
}

const elsewhere = 'It is at another service. Upload it in the builder, or link to it.';

/** What each question is called, and what it is here. */
const types: Readonly<Record<string, (part: Part) => Sketched>> = {
  textQuestion: (part) => node(part.flag('paragraph') ? 'textarea' : 'text'),
  scaleQuestion: (part) =>
    node('scale', {
      from: part.number('low'),
      to: part.number('high'),
      low_label: line(part.part('lowLabel')),
      high_label: line(part.part('highLabel')),
    }),
  ratingQuestion: (part) => {
    const icon = part.text('iconType');
    if (icon === 'THUMB_UP') part.part('iconType').change('It is drawn as stars.');
    return node('rating', {
      levels: part.number('ratingScaleLevel'),
      symbol: icon === 'HEART' ? 'hearts' : undefined,
    });
  },
  dateQuestion: (part) => {
    if (part.flag('includeYear') === false) part.change('The answer has a year.');
    return node(part.flag('includeTime') ? 'datetime' : 'date');
  },
  timeQuestion: (part) => {
    if (!part.flag('duration')) return node('time');
    part.change('A length of time is asked for as a text.');
    return node('text', { placeholder: '1:30' });
  },
  fileUploadQuestion: (part) => {
    const accept = part.list('types').flatMap((type) => {
      const endings = own(fileTypes, type.text() ?? '');
      if (!endings) type.leaveOut('Such files cannot be named here.');
      return endings ?? [];
    });
    const size = Number(part.word('maxFileSize') ?? Number.NaN);
    return node('file_upload', {
      accept: accept.length > 0 ? accept : undefined,
      max_files: part.number('maxFiles'),
      max_file_size: size > 0 ? size : undefined,
    });
  },
};

const fileTypes: Readonly<Record<string, readonly string[]>> = {
  DOCUMENT: ['.doc', '.docx', '.odt', '.txt', '.rtf'],
  PRESENTATION: ['.ppt', '.pptx', '.odp'],
  SPREADSHEET: ['.xls', '.xlsx', '.ods', '.csv'],
  DRAWING: ['.svg', '.odg'],
  PDF: ['.pdf'],
  IMAGE: ['image/*'],
  VIDEO: ['video/*'],
  AUDIO: ['audio/*'],
};

type Called = { id: string; label: string; help_text: string | undefined };

function readQuestion(item: Part, called: Called, step: Sketched, reading: Reading): void {
  const question = item.part('questionItem').part('question');
  question.text('questionId');
  const required = question.flag('required') || undefined;
  const kind = question.parts().find(({ name }) => name === 'choiceQuestion' || Object.hasOwn(types, name));
  if (!kind) return item.leaveOut('There is no element like it.');
  const made = kind.name === 'choiceQuestion' ? readChoice(question, kind) : types[kind.name]!(kind);
  made.attrs = { ...node('', { ...called, required }).attrs, ...made.attrs };
  add(reading.sketch, step, made, item);
  if (kind.name === 'choiceQuestion') readJumps(kind, made, step, reading);
}

const choiceTypes: Readonly<Record<string, string>> = {
  RADIO: 'radio',
  CHECKBOX: 'multiple_choice',
  DROP_DOWN: 'dropdown',
};

function readChoice(question: Part, part: Part): Sketched {
  part.leaveOutIf('shuffle', 'Options stand in the order of the form.');
  const known = own(choiceTypes, part.text('type') ?? '');
  if (!known) part.part('type').change('It is asked as one choice.');
  const type = known ?? 'radio';
  const grading = question.part('grading');
  const worth = grading.number('pointValue');
  const right = new Set(
    grading
      .part('correctAnswers')
      .list('answers')
      .map((answer) => answer.text('value')),
  );
  const isGraded = worth !== undefined && worth > 0 && right.size > 0;
  if (isGraded && type === 'multiple_choice')
    grading.change('Each right choice counts its share of the points.');
  const points = isGraded ? worth / (type === 'multiple_choice' ? right.size : 1) : undefined;
  let other: true | undefined;
  const told = part.list('options').filter((option) => {
    if (option.part('image').isThere) option.part('image').leaveOut(elsewhere);
    const isOther = option.flag('isOther') === true;
    if (isOther) other = true;
    return !isOther;
  });
  const options = optionsOf(told, (option) => {
    const text = option.text('value');
    const label = line(option.part('value'));
    return { id: label, label, points: right.has(text) ? points : undefined };
  });
  return node(type, { options, other });
}

/** An option goes on to the next page without a jump. */
const knownActions: readonly string[] = ['SUBMIT_FORM', 'NEXT_SECTION', 'GO_TO_ACTION_UNSPECIFIED'];

function readJumps(part: Part, made: Sketched, step: Sketched, { steps }: Reading): void {
  const jumps = part.list('options').flatMap((option): [Part, Jump][] => {
    const [section, action] = [option.text('goToSectionId'), option.text('goToAction')];
    const value = line(option.part('value'));
    const target = action === 'SUBMIT_FORM' ? 'end' : steps.get(section ?? '');
    if (action !== undefined && !knownActions.includes(action))
      option.part('goToAction').leaveOut('A form cannot lead back to an earlier page.');
    if (section !== undefined && !steps.has(section))
      option.part('goToSectionId').leaveOut('There is no such page in this form.');
    if (target === undefined) return [];
    const when: Condition | undefined = option.flag('isOther')
      ? otherChosen(made)
      : value === undefined || made.type === 'multiple_choice'
        ? undefined
        : { element: String(made.attrs['id']), is: 'equals', value };
    if (when) return [[option, { when, to: target }]];
    option.leaveOut('This option cannot lead to another page here.');
    return [];
  });
  for (const [, jump] of jumps) addJump(step, jump);
}

function readGrid(item: Part, called: Record<string, unknown>, step: Sketched, sketch: Sketch): void {
  const group = item.part('questionGroupItem');
  const grid = group.part('grid');
  const columns = grid.part('columns');
  if (group.part('image').isThere) group.part('image').leaveOut(elsewhere);
  grid.leaveOutIf('shuffleQuestions', 'Rows stand in the order of the form.');
  columns.leaveOutIf('shuffle', 'Options stand in the order of the form.');
  const rows = group.list('questions');
  const required = rows.map((row) => {
    row.text('questionId');
    return row.flag('required') === true;
  });
  if (required.some((each) => each) && !required.every((each) => each))
    group.change('All of its rows are to be answered, or none.');
  if (!['RADIO', 'CHECKBOX'].includes(columns.text('type') ?? 'RADIO'))
    columns.part('type').change('Each row is asked as one choice.');
  const { label = 'Untitled', ...rest } = called;
  const attrs = {
    ...rest,
    label,
    required: required.length > 0 && required.every((each) => each) ? true : undefined,
    rows: optionsOf(rows, (row) => ({ id: undefined, label: line(row.part('rowQuestion').part('title')) })),
    options: optionsOf(columns.list('options'), (option) => ({
      id: undefined,
      label: line(option.part('value')),
    })),
    multiple: columns.text('type') === 'CHECKBOX' || undefined,
  };
  add(sketch, step, node('matrix', attrs), item);
}
