import type { FormSource } from './convert.ts';

/* A form of each source, written for tests: product code does not import this file. */

const typeform = {
  id: 'aB3dE5',
  type: 'quiz',
  title: 'Weaving course',
  workspace: { href: 'https://api.typeform.com/workspaces/q1' },
  theme: { href: 'https://api.typeform.com/themes/t1' },
  settings: {
    language: 'de',
    is_public: true,
    redirect_after_submit_url: 'https://example.org/done',
    show_progress_bar: true,
  },
  hidden: ['campaign'],
  variables: { score: 0 },
  welcome_screens: [
    { ref: 'hello', title: 'Welcome', properties: { description: 'Three minutes.', show_button: true } },
  ],
  fields: [
    {
      id: '1',
      ref: 'name',
      type: 'short_text',
      title: 'Your name',
      properties: { description: 'As on the badge' },
      validations: { required: true, max_length: 60 },
    },
    {
      id: '2',
      ref: 'kind',
      type: 'multiple_choice',
      title: 'Hello {{field:name}}, who comes?',
      properties: {
        randomize: true,
        allow_multiple_selection: false,
        allow_other_choice: true,
        choices: [
          { id: 'c1', ref: 'person', label: 'A person' },
          { id: 'c2', ref: 'firm', label: 'A company' },
        ],
      },
      validations: { required: true },
    },
    { id: '3', ref: 'vat', type: 'short_text', title: 'VAT number' },
    {
      id: '4',
      ref: 'likes',
      type: 'matrix',
      title: 'How do you like',
      properties: {
        fields: [
          {
            id: 'r1',
            ref: 'tea',
            type: 'multiple_choice',
            title: 'Tea',
            properties: { choices: [{ label: 'Well' }, { label: 'Not' }] },
          },
          {
            id: 'r2',
            ref: 'milk',
            type: 'multiple_choice',
            title: 'Milk',
            properties: { choices: [{ label: 'Well' }, { label: 'Not' }] },
          },
        ],
      },
    },
    { id: '5', ref: 'stars', type: 'rating', title: 'The room', properties: { steps: 5, shape: 'heart' } },
    {
      id: '6',
      ref: 'again',
      type: 'nps',
      title: 'Would you tell others?',
      properties: { labels: { left: 'Never', right: 'Surely' } },
    },
    {
      id: '7',
      ref: 'contact',
      type: 'group',
      title: 'How to reach you',
      properties: {
        description: 'One is enough.',
        fields: [
          { id: '71', ref: 'mail', type: 'email', title: 'Email' },
          { id: '72', ref: 'call', type: 'phone_number', title: 'Phone' },
        ],
      },
    },
    { id: '8', ref: 'pay', type: 'payment', title: 'Pay now', properties: { currency: 'EUR' } },
    { id: '9', ref: 'terms', type: 'legal', title: 'I agree to the terms', validations: { required: true } },
  ],
  logic: [
    {
      type: 'field',
      ref: 'kind',
      actions: [
        {
          action: 'jump',
          details: { to: { type: 'field', value: 'vat' } },
          condition: {
            op: 'is',
            vars: [
              { type: 'field', value: 'kind' },
              { type: 'choice', value: 'firm' },
            ],
          },
        },
        {
          action: 'add',
          details: { target: { type: 'variable', value: 'score' }, value: { type: 'constant', value: 3 } },
          condition: {
            op: 'is',
            vars: [
              { type: 'field', value: 'kind' },
              { type: 'choice', value: 'firm' },
            ],
          },
        },
        {
          action: 'jump',
          details: { to: { type: 'field', value: 'likes' } },
          condition: { op: 'always', vars: [] },
        },
      ],
    },
    {
      type: 'field',
      ref: 'again',
      actions: [
        {
          action: 'jump',
          details: { to: { type: 'thankyou', value: 'sorry' } },
          condition: {
            op: 'lower_than',
            vars: [
              { type: 'field', value: 'again' },
              { type: 'constant', value: 4 },
            ],
          },
        },
      ],
    },
  ],
  thankyou_screens: [
    { ref: 'sorry', title: 'We are sorry', properties: { description: 'We will call.' } },
    { ref: 'thanks', title: 'Thank you', properties: { description: 'See you in May.' } },
  ],
  _links: { display: 'https://x.typeform.com/to/aB3dE5' },
};

const uuid = (n: number): string => `0000000${n}-0000-4000-8000-000000000000`.slice(-36);
const block = (n: number, type: string, payload: object, group = n) => ({
  uuid: uuid(n),
  type,
  groupUuid: uuid(group),
  groupType: type,
  payload,
});

const tally = {
  id: 'm2fK5R',
  name: 'Loom hire',
  status: 'PUBLISHED',
  blocks: [
    block(100, 'FORM_TITLE', {
      html: 'Loom <b>hire</b>',
      title: 'Loom hire',
      logo: 'https://example.org/logo.png',
    }),
    block(101, 'TEXT', {
      html: 'For <b>one week</b>.<br>See <a href="https://example.org/prices">prices</a>.',
    }),
    block(102, 'TITLE', { html: 'Your name' }),
    block(103, 'INPUT_TEXT', {
      isRequired: true,
      placeholder: 'Ada Lovelace',
      hasMaxCharacters: true,
      maxCharacters: 80,
    }),
    block(104, 'TITLE', { html: 'Which loom?' }),
    block(
      105,
      'MULTIPLE_CHOICE_OPTION',
      { text: 'Small', isRequired: true, index: 0, isFirst: true, isLast: false, randomize: true },
      200,
    ),
    block(106, 'MULTIPLE_CHOICE_OPTION', { text: 'Large', index: 1, isFirst: false, isLast: false }, 200),
    block(
      107,
      'MULTIPLE_CHOICE_OPTION',
      { text: 'Other', index: 2, isFirst: false, isLast: true, isOtherOption: true },
      200,
    ),
    block(108, 'CONDITIONAL_LOGIC', {
      logicalOperator: 'AND',
      conditionals: [
        {
          uuid: uuid(300),
          type: 'SINGLE',
          payload: {
            field: {
              uuid: uuid(200),
              type: 'INPUT_FIELD',
              questionType: 'MULTIPLE_CHOICE',
              blockGroupUuid: uuid(200),
              title: 'Which loom?',
            },
            comparison: 'IS',
            value: uuid(106),
          },
        },
      ],
      actions: [{ uuid: uuid(301), type: 'SHOW_BLOCKS', payload: { showBlocks: [uuid(109), uuid(110)] } }],
    }),
    block(109, 'TITLE', { html: 'How many people carry it?' }),
    block(110, 'INPUT_NUMBER', { hasMinNumber: true, minNumber: 2, hasMaxNumber: false, maxNumber: 9 }),
    block(111, 'PAGE_BREAK', { index: 0, name: 'Your visit' }),
    block(112, 'TITLE', { html: 'How sure are you?' }),
    block(113, 'LINEAR_SCALE', { start: 1, end: 7, step: 1, hasLeftLabel: true, leftLabel: 'Not at all' }),
    block(114, 'TITLE', { html: 'How was' }),
    block(115, 'MATRIX_ROW', { html: 'The room', index: 0 }, 201),
    block(116, 'MATRIX_ROW', { html: 'The food', index: 1 }, 201),
    block(117, 'MATRIX_COLUMN', { html: 'Good', index: 0 }, 201),
    block(118, 'MATRIX_COLUMN', { html: 'Bad', index: 1 }, 201),
    block(119, 'PAYMENT', { amount: 20, currency: 'EUR' }),
    block(120, 'HIDDEN_FIELDS', { hiddenFields: [{ uuid: uuid(302), name: 'source' }] }),
    block(121, 'PAGE_BREAK', { isThankYouPage: true }),
    block(122, 'TEXT', { html: 'Thank you.' }),
  ],
  settings: { language: 'en', redirectOnCompletion: 'https://example.org/thanks' },
};

const googleForms = {
  formId: '1FAIp',
  revisionId: '0000001f',
  responderUri: 'https://docs.google.com/forms/d/e/1FAIp/viewform',
  info: { title: 'Open day', description: 'Come and see the looms.', documentTitle: 'Open day 2026' },
  settings: { quizSettings: { isQuiz: true }, emailCollectionType: 'RESPONDER_INPUT' },
  items: [
    {
      itemId: '10',
      title: 'Will you come?',
      questionItem: {
        question: {
          questionId: 'q10',
          required: true,
          choiceQuestion: {
            type: 'RADIO',
            options: [
              { value: 'Yes', goToSectionId: '20' },
              { value: 'No', goToAction: 'SUBMIT_FORM' },
              { isOther: true },
            ],
          },
        },
      },
    },
    { itemId: '20', title: 'Your visit', description: 'On Saturday', pageBreakItem: {} },
    {
      itemId: '21',
      title: 'Where is the reed?',
      questionItem: {
        question: {
          questionId: 'q21',
          grading: { pointValue: 2, correctAnswers: { answers: [{ value: 'In the beater' }] } },
          choiceQuestion: {
            type: 'DROP_DOWN',
            shuffle: true,
            options: [{ value: 'In the beater' }, { value: 'On the floor' }],
          },
        },
      },
    },
    {
      itemId: '22',
      title: 'How did you like',
      questionGroupItem: {
        questions: [
          { questionId: 'r1', required: true, rowQuestion: { title: 'Tea' } },
          { questionId: 'r2', required: true, rowQuestion: { title: 'Cake' } },
        ],
        grid: { columns: { type: 'RADIO', options: [{ value: 'Well' }, { value: 'Not' }] } },
      },
    },
    {
      itemId: '23',
      title: 'Stars',
      questionItem: {
        question: { questionId: 'q23', ratingQuestion: { ratingScaleLevel: 5, iconType: 'HEART' } },
      },
    },
    {
      itemId: '24',
      title: 'How likely?',
      questionItem: {
        question: {
          questionId: 'q24',
          scaleQuestion: { low: 1, high: 5, lowLabel: 'Not', highLabel: 'Very' },
        },
      },
    },
    {
      itemId: '25',
      title: 'Photo',
      questionItem: {
        question: {
          questionId: 'q25',
          fileUploadQuestion: { folderId: 'f', types: ['IMAGE', 'PDF'], maxFiles: 2, maxFileSize: '1048576' },
        },
      },
    },
    {
      itemId: '26',
      title: 'When?',
      questionItem: {
        question: { questionId: 'q26', dateQuestion: { includeTime: true, includeYear: true } },
      },
    },
    { itemId: '27', title: 'A film', videoItem: { video: { youtubeUri: 'https://youtube.com/watch?v=1' } } },
    { itemId: '28', title: 'Thanks', description: 'For everything', textItem: {} },
  ],
};

const surveyjs = {
  title: { default: 'Guests', de: 'Gäste' },
  locale: 'en',
  completedHtml: { default: '<h3>Thank you</h3>', de: '<h3>Danke</h3>' },
  completeText: 'Send it',
  showPreviewBeforeComplete: 'showAnsweredQuestions',
  pages: [
    {
      name: 'you',
      title: { default: 'You', de: 'Sie' },
      elements: [
        {
          type: 'text',
          name: 'full_name',
          title: { default: 'Name', de: 'Name, bitte' },
          isRequired: true,
          maxLength: 80,
        },
        {
          type: 'text',
          name: 'age',
          title: 'How old is {full_name}?',
          inputType: 'number',
          min: 0,
          validators: [{ type: 'numeric', maxValue: 120 }],
        },
        {
          type: 'text',
          name: 'plate',
          validators: [{ type: 'regex', regex: '^[A-Z]{1,3}-\\d+$', text: 'As on the car.' }],
        },
        {
          type: 'checkbox',
          name: 'meals',
          title: 'Meals',
          choices: [{ value: 'b', text: { default: 'Breakfast', de: 'Frühstück' } }, 'Lunch', 3],
          showOtherItem: true,
          showNoneItem: true,
          maxSelectedChoices: 2,
          colCount: 2,
        },
        {
          type: 'comment',
          name: 'allergies',
          visibleIf: "{meals} contains 'b' and {age} >= 18",
          requiredIf: '{age} > 60',
        },
        { type: 'text', name: 'colour', inputType: 'color', enableIf: '{age} > 3' },
      ],
    },
    {
      name: 'family',
      visibleIf: '{age} notempty',
      elements: [
        {
          type: 'paneldynamic',
          name: 'children',
          title: 'Children',
          maxPanelCount: 4,
          templateElements: [
            { type: 'text', name: 'child', title: 'Name' },
            {
              type: 'boolean',
              name: 'cot',
              title: 'A cot?',
              visibleIf: '{panel.child} notempty',
              labelTrue: 'Oh yes',
            },
          ],
        },
        {
          type: 'matrix',
          name: 'likes',
          columns: ['good', 'bad'],
          rows: [{ value: 'tea', text: 'Tea' }, 'cake'],
          isAllRowRequired: true,
        },
        { type: 'rating', name: 'stars', rateType: 'stars', rateMax: 5, minRateDescription: 'Bad' },
        { type: 'html', name: 'note', html: '<p>Read <b>this</b>.</p>' },
        { type: 'file', name: 'photo', acceptedTypes: 'image/*', maxSize: 102400 },
        { type: 'expression', name: 'sum', expression: '{age} * 2' },
      ],
    },
    { name: 'last', elements: [{ type: 'signaturepad', name: 'sign' }] },
  ],
  triggers: [
    { type: 'skip', expression: '{age} < 18', gotoName: 'sign' },
    { type: 'setvalue', expression: '{age} < 3', setToName: 'plate', setValue: 'x' },
  ],
};

// As text: an object that has "then" in the source would be taken for a promise.
/** A form of each source with most of what it can say, and some of what no form here says. */
export const samples: Readonly<Record<FormSource, Readonly<Record<string, unknown>>>> = {
  typeform,
  tally,
  google_forms: googleForms,
  surveyjs,
};
