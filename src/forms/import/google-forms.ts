import { getProperty } from '#ast/basics/json.ts';
import {
  createComparisonCondition,
  createOtherChosenCondition,
  type ReferencedElement,
} from './imported-conditions.ts';
import { newTexts } from './imported-texts.ts';
import {
  createMappedElement,
  type ElementMappings,
  type FormImportContext,
  leftOutReasons,
  mapWord,
} from './importer-table.ts';
import { addJump, addNode, addStep, createNode, type Sketch, type SketchNode } from './sketch.ts';
import type { SourcePart } from './source.ts';

/**
 * Reads a Google Forms form as its API returns it (`forms.get`): a list of items, in which a page break
 * begins the next page. Options lead to the page with an item's id, or to the end.
 */
export function readGoogleForms(root: SourcePart, sketch: Sketch): void {
  const texts = newTexts(sketch);
  const { form } = sketch;
  const names = [root.part('info.documentTitle'), root.part('info.title')];
  for (const name of names) texts.set(form, 'name', name);
  texts.set(form, 'description', root.part('info.description'));
  const reading = {
    sketch,
    texts,
    named: new Map<string, ReferencedElement>(),
    pages: new Map<string, SketchNode>(),
  };
  let step = addStep(sketch);
  readEmail(root.part('settings.emailCollectionType'), step, sketch);
  const later: (() => void)[] = [];
  for (const item of root.list('items')) {
    const kind = kindOf(item);
    if (kind === 'pageBreakItem') {
      step = addStep(sketch, item);
      texts.set(step, 'title', item.part('title'));
      texts.set(step, 'description', item.part('description'));
      item.map('step');
      step.attrs['id'] = sketch.newId(undefined, item.text('title') ?? 'page');
      reading.pages.set(item.text('itemId') ?? '', step);
      continue;
    }
    const node = readItem(item, kind, reading);
    if (typeof node === 'string') item.leaveOut(node);
    else addNode(sketch, step, node, item);
    const from = step;
    if (typeof node !== 'string' && node.attrs['options'] && node.type !== 'matrix')
      later.push(() => readJumps(item.part('questionItem.question.choiceQuestion'), node, from, reading));
  }
  for (const each of later) each();
  const quiz = root.part('settings.quizSettings');
  const last = sketch.form.children.at(-1);
  const isGraded = [...sketch.origins.keys()].some(({ attrs }) => attrs['correct'] !== undefined);
  if (quiz.flag('isQuiz') && isGraded && last)
    addNode(sketch, last, createNode('score', { id: sketch.newId('score'), label: 'Score' }), quiz);
}

type GoogleReading = FormImportContext & { readonly pages: ReadonlyMap<string, SketchNode> };

const kinds = ['questionItem', 'questionGroupItem', 'pageBreakItem', 'textItem', 'imageItem', 'videoItem'];

/** The type of an item is the name of its property. The property's value may be empty. */
const kindOf = (item: SourcePart): string | undefined =>
  kinds.find((kind) => item.parts().some(({ name }) => name === kind));

function readEmail(part: SourcePart, step: SketchNode, sketch: Sketch): void {
  const way = part.text() ?? 'DO_NOT_COLLECT';
  if (way === 'DO_NOT_COLLECT' || way === 'EMAIL_COLLECTION_TYPE_UNSPECIFIED') return;
  addNode(
    sketch,
    step,
    createNode('email', { id: sketch.newId('email'), label: 'Email', required: true }),
    part,
  );
  part.change('The form asks for the address but does not verify it.');
}

function readItem(item: SourcePart, kind: string | undefined, reading: GoogleReading): SketchNode | string {
  const { sketch, texts } = reading;
  item.skip('itemId');
  if (kind === 'imageItem' || kind === 'videoItem') return leftOutReasons.elsewhere;
  if (kind === 'textItem') {
    const [title, description] = [texts.read(item.part('title')), texts.read(item.part('description'))];
    const text = [title && `## ${title}`, description].filter(Boolean).join('\n\n');
    return createNode('rich_text', { text: text || 'Untitled' });
  }
  const part = item.part(kind === 'questionGroupItem' ? kind : 'questionItem.question');
  const found = part.parts().find(({ name }) => Object.hasOwn(questions, name));
  const type = kind === 'questionGroupItem' ? kind : kind === 'questionItem' ? found?.name : undefined;
  if (type === undefined) return 'This item is not supported.';
  part.skip('questionId');
  item.part('questionItem.image').leaveOut(leftOutReasons.elsewhere);
  const common = { attrs: { required: 'required' } };
  const node = createMappedElement(questions, type, part, reading, common);
  if (typeof node === 'string') return node;
  const words = texts.read(item.part('title')) ?? item.text('itemId') ?? '';
  const head = createNode(node.type, { id: sketch.newId(undefined, words) });
  texts.set(head, 'label', item.part('title'));
  texts.set(head, 'help_text', item.part('description'));
  node.attrs = { ...node.attrs, ...head.attrs };
  return node;
}

/** The element type for each type of question. */
const questions: ElementMappings<GoogleReading> = {
  choiceQuestion: {
    type: (question) => {
      const part = question.part('choiceQuestion.type');
      const type = getProperty(choiceTypes, part.text() ?? '');
      if (!type) part.change('It becomes a single choice.');
      return type ?? 'radio';
    },
    attrs: { shuffle: 'choiceQuestion.shuffle' },
    finish: readChoice,
  },
  textQuestion: {
    type: (question) => (question.flag('textQuestion.paragraph') ? 'textarea' : 'text'),
    finish: (question, node) => {
      if (node.type === 'text') readGrading(question, node, (answers) => [...answers]);
    },
  },
  scaleQuestion: {
    type: 'scale',
    attrs: {
      from: 'scaleQuestion.low',
      to: 'scaleQuestion.high',
      low_label: 'scaleQuestion.lowLabel',
      high_label: 'scaleQuestion.highLabel',
    },
  },
  ratingQuestion: {
    type: 'rating',
    attrs: {
      levels: 'ratingQuestion.ratingScaleLevel',
      symbol: mapWord('ratingQuestion.iconType', { STAR: undefined, HEART: 'hearts' }, leftOutReasons.stars),
    },
  },
  dateQuestion: {
    type: (question) => (question.flag('dateQuestion.includeTime') ? 'datetime' : 'date'),
    finish: (question) => {
      if (question.flag('dateQuestion.includeYear') === false)
        question.part('dateQuestion').change('The answer includes a year.');
    },
  },
  timeQuestion: {
    type: (question) => (question.flag('timeQuestion.duration') ? 'text' : 'time'),
    finish: (question, node) => {
      if (node.type === 'time') return;
      node.attrs['placeholder'] = '1:30';
      question.part('timeQuestion').change('A duration becomes a text question.');
    },
  },
  fileUploadQuestion: {
    type: 'file_upload',
    attrs: {
      accept: (question) => {
        const accepted = question.list('fileUploadQuestion.types').flatMap((type) => {
          const endings = getProperty(fileTypes, type.text() ?? '');
          if (!endings) type.leaveOut('This file type is not supported.');
          return endings ?? [];
        });
        return accepted.length > 0 ? accepted : undefined;
      },
      max_files: 'fileUploadQuestion.maxFiles',
      max_file_size: (question) => Number(question.word('fileUploadQuestion.maxFileSize') ?? 0) || undefined,
    },
  },
  questionGroupItem: {
    type: 'matrix',
    attrs: { required: readRowsRequired },
    lost: {
      image: leftOutReasons.elsewhere,
      'grid.shuffleQuestions': 'Rows always appear in the order of the form.',
      'grid.columns.shuffle': leftOutReasons.ordered,
    },
    finish: readGrid,
  },
};

const choiceTypes: Readonly<Record<string, string>> = {
  RADIO: 'radio',
  CHECKBOX: 'multiple_choice',
  DROP_DOWN: 'dropdown',
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

function readChoice(question: SourcePart, node: SketchNode, { texts }: GoogleReading): void {
  const plain = question.list('choiceQuestion.options').filter((option) => {
    option.part('image').leaveOut(leftOutReasons.elsewhere);
    if (option.flag('isOther') !== true) return true;
    node.attrs['other'] = true;
    return false;
  });
  texts.setOptions(node, 'options', plain, (option) => ({ label: option.part('value') }));
  readGrading(question, node, (answers) =>
    plain.flatMap((option) =>
      answers.has(option.text('value')) ? [texts.read(option.part('value'))].filter(Boolean) : [],
    ),
  );
}

/** Reads the right answer of a quiz, its points and its explanation. */
function readGrading(
  question: SourcePart,
  node: SketchNode,
  correctOf: (answers: ReadonlySet<string | undefined>) => unknown[],
): void {
  const grading = question.part('grading');
  const answers = grading.list('correctAnswers.answers').map((answer) => answer.text('value'));
  const [points = 0, explanation] = [grading.number('pointValue'), grading.text('generalFeedback.text')];
  const correct = correctOf(new Set(answers));
  if (points < 1 || correct.length === 0) return;
  Object.assign(node.attrs, { correct, points, ...(explanation !== undefined && { explanation }) });
}

/** Actions of an option that need no report. The next page needs no jump. */
const knownActions: readonly string[] = ['SUBMIT_FORM', 'NEXT_SECTION', 'GO_TO_ACTION_UNSPECIFIED'];

function readJumps(
  part: SourcePart,
  node: SketchNode,
  step: SketchNode,
  { sketch, texts, pages }: GoogleReading,
): void {
  for (const option of part.list('options')) {
    const [section, action] = [option.text('goToSectionId'), option.text('goToAction')];
    if (action !== undefined && !knownActions.includes(action))
      option.part('goToAction').leaveOut('A form cannot jump back to an earlier page.');
    const target = action === 'SUBMIT_FORM' ? 'end' : pages.get(section ?? '');
    if (section !== undefined && !pages.has(section))
      option.part('goToSectionId').leaveOut('This page does not exist.');
    if (target === undefined) continue;
    const label = texts.read(option.part('value'));
    const chosen = option.flag('isOther')
      ? createOtherChosenCondition(node)
      : label && createComparisonCondition({ node }, 'equals', [label]);
    const when = node.type === 'multiple_choice' ? undefined : chosen;
    if (!when || addJump(sketch, step, target, when) === undefined)
      option.leaveOut('This option cannot have a jump.');
  }
}

function readRowsRequired(group: SourcePart): true | undefined {
  const required = group.list('questions').map((row) => {
    row.skip('questionId');
    return row.flag('required') === true;
  });
  if (new Set(required).size > 1) group.change('Either all rows are required or none are.');
  return (required.length > 0 && required.every((each) => each)) || undefined;
}

function readGrid(group: SourcePart, node: SketchNode, { texts }: GoogleReading): void {
  const type = group.text('grid.columns.type');
  if (type !== undefined && type !== 'RADIO' && type !== 'CHECKBOX')
    group.part('grid.columns.type').change('Each row becomes a single choice.');
  if (type === 'CHECKBOX') node.attrs['multiple'] = true;
  texts.setOptions(node, 'rows', group.list('questions'), (row) => ({
    label: row.part('rowQuestion.title'),
  }));
  texts.setOptions(node, 'options', group.list('grid.columns.options'), (each) => ({
    label: each.part('value'),
  }));
}
