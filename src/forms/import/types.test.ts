import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateStructure } from '#ast/validate.ts';
import { convertForm, type FormSource } from './convert.ts';

/*
 * Every type in the public references of other services (2026) maps to an element, or the report lists it as
 * left out.
 */

/** The element type of each source type; null if the type is left out and reported. */
type Types = Readonly<Record<string, string | null>>;

const typeform: Types = {
  address: 'composite',
  calendly: null,
  contact_info: 'composite',
  date: 'date',
  dropdown: 'dropdown',
  email: 'email',
  file_upload: 'file_upload',
  group: 'composite',
  inline_group: 'composite',
  legal: 'consent',
  long_text: 'textarea',
  matrix: 'matrix',
  multi_format: null,
  multiple_choice: 'radio',
  nps: 'scale',
  number: 'number',
  opinion_scale: 'scale',
  payment: null,
  phone_number: 'phone',
  picture_choice: 'picture_choice',
  ranking: 'ranking',
  rating: 'rating',
  short_text: 'text',
  statement: 'rich_text',
  website: 'url',
  yes_no: 'yes_no',
};

const surveyjs: Types = {
  boolean: 'yes_no',
  buttongroup: 'radio',
  checkbox: 'multiple_choice',
  comment: 'textarea',
  dropdown: 'dropdown',
  expression: null,
  file: 'file_upload',
  flowpanel: 'composite',
  html: 'rich_text',
  image: null,
  imagemap: null,
  imagepicker: 'picture_choice',
  matrix: 'matrix',
  matrixdropdown: 'heading, composite, composite',
  matrixdynamic: 'composite',
  multipletext: 'composite',
  panel: 'composite',
  paneldynamic: 'composite',
  radiogroup: 'radio',
  ranking: 'ranking',
  rating: 'scale',
  signaturepad: 'signature',
  slider: 'number',
  tagbox: 'multiple_choice',
  text: 'text',
};

/** The element types of a SurveyJS text by `defineInputType`. Input types without an equivalent become `text`. */
const inputTypes: Types = {
  color: 'text',
  date: 'date',
  'datetime-local': 'datetime',
  email: 'email',
  month: 'text',
  number: 'number',
  password: 'text',
  range: 'number',
  tel: 'phone',
  text: 'text',
  time: 'time',
  url: 'url',
  week: 'text',
};

const googleItems: Types = {
  imageItem: null,
  pageBreakItem: 'step',
  questionGroupItem: 'matrix',
  textItem: 'rich_text',
  videoItem: null,
};

const googleQuestions: Types = {
  choiceQuestion: 'radio',
  dateQuestion: 'date',
  fileUploadQuestion: 'file_upload',
  ratingQuestion: 'rating',
  rowQuestion: null,
  scaleQuestion: 'scale',
  textQuestion: 'text',
  timeQuestion: 'time',
};

const tally: Types = {
  CALCULATED_FIELDS: null,
  CAPTCHA: null,
  CHECKBOX: 'multiple_choice',
  CONDITIONAL_LOGIC: null,
  DIVIDER: 'divider',
  DROPDOWN_OPTION: 'dropdown',
  EMBED: null,
  EMBED_AUDIO: null,
  EMBED_VIDEO: null,
  FILE_UPLOAD: 'file_upload',
  FORM_TITLE: 'name',
  HEADING_1: 'heading',
  HEADING_2: 'heading',
  HEADING_3: 'heading',
  HIDDEN_FIELDS: 'hidden',
  IMAGE: null,
  INPUT_DATE: 'date',
  INPUT_EMAIL: 'email',
  INPUT_LINK: 'url',
  INPUT_NUMBER: 'number',
  INPUT_PHONE_NUMBER: 'phone',
  INPUT_TEXT: 'text',
  INPUT_TIME: 'time',
  LABEL: 'heading',
  LINEAR_SCALE: 'scale',
  MATRIX: 'matrix',
  MULTIPLE_CHOICE_OPTION: 'radio',
  MULTI_SELECT_OPTION: 'multiple_choice',
  PAGE_BREAK: 'step',
  PAYMENT: null,
  RANKING_OPTION: 'ranking',
  RATING: 'rating',
  RESPONDENT_COUNTRY: null,
  SIGNATURE: 'signature',
  TEXT: 'rich_text',
  TEXTAREA: 'textarea',
  THANK_YOU_PAGE: null,
  TITLE: 'heading',
  WALLET_CONNECT: null,
};

const formbricks: Types = {
  address: 'composite',
  cal: null,
  consent: 'consent',
  contactInfo: 'composite',
  cta: 'rich_text',
  date: 'date',
  fileUpload: 'file_upload',
  matrix: 'matrix',
  multipleChoiceMulti: 'multiple_choice',
  multipleChoiceSingle: 'radio',
  nps: 'scale',
  openText: 'text',
  payment: null,
  pictureSelection: 'picture_choice',
  ranking: 'ranking',
  rating: 'rating',
};

/** The element types of a Formbricks open text by `defineInputType`. */
const openTexts: Types = { email: 'email', number: 'number', phone: 'phone', text: 'text', url: 'url' };

const choices = [{ label: 'One' }, { label: 'Two' }];
const values = [{ value: 'One' }, { value: 'Two' }];

/** Documents that contain one part of a type; the importer finds the part at `path`. */
const cases: readonly (readonly [
  source: FormSource,
  types: Types,
  path: string,
  document: (type: string) => object,
])[] = [
  [
    'typeform',
    typeform,
    'fields[0]',
    (type) => {
      const rows = { ref: 'row', type: 'multiple_choice', title: 'A row', properties: { choices: choices } };
      const properties = type === 'matrix' ? { fields: [rows] } : { choices: choices };
      return { fields: [{ ref: 'a', type, title: 'A title', properties }] };
    },
  ],
  [
    'surveyjs',
    surveyjs,
    'pages[0].elements[0]',
    (type) => {
      const lists = { choices: values, columns: values, rows: values, html: 'A text' };
      return { pages: [{ elements: [{ type, name: 'a', ...(!type.endsWith('dynamic') && lists) }] }] };
    },
  ],
  [
    'surveyjs',
    inputTypes,
    'pages[0].elements[0]',
    (inputType) => ({ pages: [{ elements: [{ type: 'text', name: 'a', inputType }] }] }),
  ],
  [
    'google_forms',
    googleItems,
    'items[0]',
    (kind) => {
      const questions = [{ questionId: 'r', rowQuestion: { title: 'A row' } }];
      const inside =
        kind === 'questionGroupItem' ? { questions, grid: { columns: { options: values } } } : {};
      return { info: { title: 'A form' }, items: [{ itemId: '1', title: 'A title', [kind]: inside }] };
    },
  ],
  [
    'google_forms',
    googleQuestions,
    'items[0]',
    (kind) => {
      const question = { [kind]: { options: values, low: 1, high: 5, ratingScaleLevel: 5 } };
      return {
        info: { title: 'A form' },
        items: [{ itemId: '1', title: 'A title', questionItem: { question } }],
      };
    },
  ],
  [
    'formbricks',
    formbricks,
    'questions[0]',
    (type) => {
      const labels = [{ default: 'One' }, { default: 'Two' }];
      const choices = labels.map((label, at) => ({ id: `c${at}`, label }));
      const lists = { choices, rows: labels, columns: labels, range: 5, label: labels[0] };
      return { questions: [{ id: 'a', type, headline: { default: 'A title' }, ...lists }] };
    },
  ],
  [
    'formbricks',
    openTexts,
    'questions[0]',
    (inputType) => ({
      questions: [{ id: 'a', type: 'openText', headline: { default: 'A title' }, inputType }],
    }),
  ],
  [
    'tally',
    tally,
    'blocks[0]',
    (type) => {
      const payload = {
        safeHTMLSchema: [['A text']],
        text: 'One',
        hiddenFields: [{ uuid: 'h', name: 'a' }],
        start: 1,
        end: 5,
      };
      return { blocks: [{ uuid: 'a', type, groupUuid: 'g', groupType: type, payload }] };
    },
  ],
];

test('every type in the references of other services is mapped or reported as left out', () => {
  for (const [source, types, path, document] of cases)
    for (const [type, expected] of Object.entries(types)) {
      const { structure, report } = convertForm(document(type) as Record<string, unknown>, source);
      const checked = validateStructure(structure);
      const what = `${source} ${type}`;
      assert.ok(checked.ok || expected === 'matrix' || expected === 'composite', what);
      const found = (structure as { children: { children: { type: string }[] }[] }).children.flatMap(
        ({ children }) => children.map((element) => element.type),
      );
      const about = report.filter((line) => line.path === path || line.path.startsWith(`${path}.`));
      if (expected === null) {
        assert.deepEqual(found, [], what);
        assert.ok(
          about.some((line) => line.path === path && line.outcome === 'left_out'),
          `${what}: ${JSON.stringify(about)}`,
        );
      } else if (expected === 'step' || expected === 'name') {
        assert.deepEqual(found, [], what);
        assert.ok(
          about.some(({ outcome }) => outcome === 'mapped'),
          what,
        );
      } else assert.equal(found.join(', '), expected, what);
    }
});
