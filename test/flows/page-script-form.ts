import { composite, element } from '../ast/forms.ts';

/** Returns a step with a title. */
export const step = (title: string, children: readonly object[], attrs: object = {}): object => ({
  type: 'step',
  attrs: { title, ...attrs },
  children,
});

/** Twenty elements of a typical form with every kind of input, for measuring page size and time. */
export const twentyElements = [
  element('heading', 'heading'),
  element('paragraph', 'paragraph'),
  element('text', 'text', { required: true, help_text: 'As in your passport.' }),
  element('text', 'surname', { required: true }),
  element('email', 'email', { required: true }),
  element('phone', 'phone'),
  element('url', 'url'),
  element('date', 'date', { max: 'today' }),
  element('number', 'number', { min: 1, max: 10 }),
  element('dropdown', 'dropdown', { options: ['France', 'Germany', 'Japan', 'Spain', 'Sweden'] }),
  element('radio', 'radio', { other: true }),
  element('multiple_choice', 'multiple_choice', { max_choices: 2 }),
  element('yes_no', 'yes_no'),
  element('textarea', 'textarea', { max_length: 500 }),
  element('divider', 'divider'),
  element('time', 'time'),
  element('datetime', 'datetime'),
  element('file_upload', 'file_upload', { accept: ['.pdf', 'image/*'] }),
  composite('group', [element('text', 'member')], { repeatable: true }),
] as const;

const isCompany = { element: 'kind', is: 'equals', value: 'Company' };

/** Three steps: the second is for companies, and the last has rows. */
export const companySteps: readonly object[] = [
  step('About you', [
    element('text', 'name', { required: true }),
    element('email', 'email'),
    element('radio', 'kind', { options: ['Person', 'Company'], required: true }),
    element('text', 'company', { show_when: isCompany, required: true }),
    element('date', 'day'),
  ]),
  step('The company', [element('text', 'vat')], { show_when: isCompany }),
  step('The team', [
    composite('team', [element('text', 'member', { required: true }), element('yes_no', 'veg')], {
      repeatable: true,
    }),
  ]),
];
