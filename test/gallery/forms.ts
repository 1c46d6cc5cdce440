import type { FormNode } from '#ast/form/tree.ts';
import { applyFormTranslations, listTexts } from '#ast/texts.ts';
import { composite, element, stepsOf } from '../ast/forms.ts';
import { arabic } from './arabic.ts';

/** A gallery form in one language. */
export type GalleryForm = {
  readonly structure: FormNode;
  readonly settings: Readonly<Record<string, unknown>>;
  /** The heading of its confirmation, if its theme sets one. */
  readonly thanks?: string;
};
type Say = (text: string) => string;
export type FormName =
  | 'workshop'
  | 'choices'
  | 'files'
  | 'order'
  | 'languages'
  | 'single'
  | 'quiz'
  | 'closed'
  | 'early'
  | 'password'
  | 'invited'
  | 'full'
  | 'waiting';

const named = (structure: FormNode, name: string, description?: string): FormNode => ({
  ...structure,
  attrs: { ...structure.attrs, name, description },
});

const description =
  'Three days at the loom, in June. **Bring nothing**: [what we have](https://example.org/looms) is enough.';

/** Two steps and every type of question that is typed. */
const workshop = (say: Say): FormNode =>
  named(
    stepsOf(
      { title: say('About you') },
      [
        element('paragraph', 'note', { label: say('We use this to plan the groups, and for nothing else.') }),
        element('text', 'name', { label: say('Full name'), required: true }),
        element('email', 'email', {
          label: say('Email address'),
          required: true,
          help_text: say('We answer there.'),
        }),
        element('phone', 'phone', { label: say('Phone') }),
        element('url', 'site', { label: say('Website') }),
        element('date', 'day', { label: say('Day of arrival'), required: true, min: '2126-06-01' }),
        element('number', 'years', { label: say('Years of weaving'), min: 0, max: 80 }),
        element('dropdown', 'country', { label: say('Country'), options: countries(say) }),
        element('textarea', 'work', { label: say('About your work'), max_length: 60 }),
      ],
      { title: say('Your visit'), description: say('Everything that we prepare for you.') },
      [
        element('radio', 'size', {
          label: say('Size of the group'),
          options: ['Small', 'Medium', 'Large'].map(say),
          required: true,
        }),
        composite(
          'guests',
          [
            element('text', 'guest', { label: say('Name'), required: true }),
            element('yes_no', 'veg', { label: say('Eats no meat?'), options_layout: 'row' }),
          ],
          { label: say('Guest'), repeatable: true },
        ),
        element('textarea', 'wishes', { label: say('Wishes of {{name}}') }),
      ],
    ),
    say('Weaving workshop'),
    say(description),
  );

/** Returns 500 options, as many as a list of countries and regions to search. */
function countries(say: Say): string[] {
  const names = Array.from({ length: 499 }, (_, index) => `Region ${String(index + 1).padStart(3, '0')}`);
  return [say('Egypt'), ...names];
}

/** Every layout of options. */
const choices = (say: Say): FormNode =>
  named(
    stepsOf({}, [
      element('radio', 'found', {
        label: say('How did you find us?'),
        options: [
          'From a friend',
          'From a newspaper or a magazine that I read at the hairdresser',
          'From the web',
        ].map(say),
        other: true,
      }),
      element('radio', 'score', {
        label: say('How likely are you to recommend us?'),
        options: Array.from({ length: 11 }, (_, index) => String(index)),
        options_layout: 'row',
      }),
      element('multiple_choice', 'days', {
        label: say('Which days suit you?'),
        options: ['Monday', 'Tuesday', 'Wednesday', 'Thursday'].map(say),
        options_layout: 'grid_4',
        shuffle: true,
      }),
      element('multiple_choice', 'colours', {
        label: say('Which colours do you like?'),
        options: ['Madder', 'Weld', 'Indigo', 'Walnut'].map(say),
        options_layout: 'grid_2',
        required: true,
        max_choices: 2,
      }),
      element('yes_no', 'dinner', {
        label: say('Will you stay for dinner?'),
        options_layout: 'row',
        required: true,
      }),
      element('picture_choice', 'motif', {
        label: say('Which motif do you want to weave?'),
        options: [{ id: 'w', label: say('Waves'), capacity: 4 }, say('Leaves'), say('Stars over the hills')],
        options_layout: 'grid_3',
      }),
      element('matrix', 'pleased', {
        label: say('How did you like these?'),
        rows: ['The looms', 'The colours that we made', 'The meals'].map(say),
        options: ['Not at all', 'A little', 'Very much'].map(say),
      }),
      element('rich_text', 'house', {
        text: say(
          '# The house\nEverything is **upstairs**. *Dogs* stay outside; read [the rules](https://example.org/rules).\n\n- No shoes\n- No knives',
        ),
      }),
      element('consent', 'terms', {
        label: say('Privacy'),
        statement: say(
          'I agree that my answers are kept for a year, as [the notice](https://example.org/privacy) says.',
        ),
        required: true,
      }),
      element('hidden', 'source', { label: say('Source') }),
      element('dropdown', 'seat', {
        label: say('Where do you want to sit?'),
        options: Array.from({ length: 40 }, (_, index) => `${say('Seat')} ${index + 1}`),
        placeholder: say('Choose a place'),
      }),
    ]),
    say('Weaving workshop'),
  );

const files = (say: Say): FormNode =>
  named(
    stepsOf({}, [
      element('file_upload', 'pictures', {
        label: say('Pictures of your work'),
        help_text: say('Up to three, as you have them.'),
        accept: ['image/*', '.pdf'],
        max_files: 3,
      }),
      element('file_upload', 'ticket', {
        label: say('Your ticket'),
        accept: ['.pdf'],
        max_files: 1,
        required: true,
      }),
      element('signature', 'signature', { label: say('Your signature') }),
    ]),
    say('Weaving workshop'),
  );

/**
 * Ratings, calculations and display elements, conditions, and every layout of groups. `photo` is an image id.
 */
const order = (say: Say, photo: string): FormNode =>
  named(
    stepsOf(
      {
        title: say('What you like'),
        jumps: [{ when: { element: 'again', is: 'less_than', value: 3 }, to: 'end' }],
      },
      [
        element('image', 'mill', {
          image: photo,
          alt: say('A field'),
          caption: say('The field of the mill'),
        }),
        element('rating', 'stars', {
          label: say('The looms'),
          levels: 7,
          low_label: say('Not at all'),
          high_label: say('Very much'),
        }),
        element('rating', 'hearts', { label: say('The meals'), symbol: 'hearts' }),
        element('rating', 'mood', { label: say('The meals'), symbol: 'smileys' }),
        element('scale', 'slider', { label: say('The house'), display: 'slider', to: 5 }),
        element('rating', 'numbers', { label: say('The house'), symbol: 'numbers', levels: 10 }),
        element('scale', 'again', {
          label: say('How likely are you to recommend us?'),
          from: 0,
          to: 10,
          low_label: say('Not at all'),
          high_label: say('Very much'),
        }),
        element('ranking', 'best', {
          label: say('Rank these options'),
          options: ['Madder', 'Weld', 'Indigo', 'Walnut'].map(say),
        }),
        element('matrix', 'when', {
          label: say('Which days suit you?'),
          rows: ['The looms', 'The meals'].map((row) => ({ id: row, label: say(row) })),
          options: ['Monday', 'Tuesday', 'Wednesday', 'Thursday'].map(say),
          multiple: true,
        }),
      ],
      { title: say('Your order'), layout: 'grid_2' },
      [
        element('heading', 'yarn', { label: say('Yarn'), col_span: 2 }),
        element('picture_choice', 'motifs', {
          label: say('Which motif do you want to weave?'),
          options: [
            { id: 'w', label: say('Waves'), image: photo, points: 12, capacity: 4 },
            { id: 'l', label: say('Leaves'), image: photo, points: 9.5 },
            {
              id: 's',
              label: say('Stars over the hills'),
              image: photo,
              points: 20,
              capacity: 1,
              show_when: {
                not: { element: 'when', row: 'The meals', is: 'contains', value: say('Thursday') },
              },
            },
          ],
          multiple: true,
          min_choices: 1,
          required: true,
          col_span: 2,
        }),
        element('number', 'weight', { label: say('Kilograms'), min: 0.5, step: 0.5, required: true }),
        element('calculation', 'net', {
          label: say('Before tax'),
          formula: 'points({motifs}) * {weight}',
          hidden: true,
        }),
        element('calculation', 'total', {
          label: say('Total'),
          help_text: say('With everything.'),
          formula: '{net} * 1.19',
          decimals: 2,
          prefix: '€ ',
          suffix: ' *',
        }),
        element('divider', 'line', { col_span: 2 }),
        element('radio', 'way', {
          label: say('How do you get it?'),
          options: [
            { id: 'post', label: say('By post') },
            { id: 'fetch', label: say('Pickup') },
          ],
          options_layout: 'stack',
          col_span: 2,
        }),
        composite(
          'address',
          [
            element('text', 'street', {
              label: say('Street'),
              autocomplete: 'street-address',
              min_length: 3,
              valid_when: { element: 'street', is: 'not_equals', other: 'town' },
            }),
            element('text', 'code', {
              label: say('Postal code'),
              pattern: '[0-9]{5}',
              error_message: say('Five digits, please.'),
              require_when: { element: 'way', is: 'equals', value: 'post' },
            }),
            element('text', 'town', { label: say('Town') }),
          ],
          {
            label: say('Address'),
            layout: 'grid_3',
            col_span: 2,
            hide_when: { element: 'way', is: 'equals', value: 'fetch' },
          },
        ),
        composite(
          'fetching',
          [
            element('time', 'hour', { label: say('Time of arrival') }),
            element('datetime', 'latest', { label: say('At the latest') }),
          ],
          {
            label: say('Day of arrival'),
            layout: 'row',
            col_span: 2,
            show_when: { element: 'way', is: 'equals', value: 'fetch' },
          },
        ),
        composite(
          'marks',
          ['Madder', 'Weld', 'Indigo', 'Walnut'].map((colour) =>
            element('number', colour.toLowerCase(), { label: say(colour) }),
          ),
          { label: say('Which colours do you like?'), layout: 'grid_4', col_span: 2 },
        ),
        element('text', 'number', { label: say('Number of your ticket'), unique: true }),
        element('email', 'contact', { label: say('Email address'), verify: true }),
        element('file_upload', 'sketch', {
          label: say('Pictures of your work'),
          min_files: 2,
          max_file_size: 1_000_000,
        }),
        composite('nothing', [element('textarea', 'note', { label: say('About your work') })], {
          label: say('Your loom'),
          layout: 'stack',
          col_span: 2,
        }),
        // Every operator and function, none of them shown.
        element('calculation', 'rules', {
          label: say('Total'),
          hidden: true,
          formula: ruled,
          show_when: {
            any: [
              { element: 'weight', is: 'not_equals', value: 3 },
              { element: 'weight', is: 'at_least', value: 1 },
              { element: 'weight', is: 'at_most', value: 2 },
              { element: 'number', is: 'not_contains', value: 'x' },
              { element: 'latest', is: 'after', value: '2126-06-01T12:00' },
              { element: 'latest', is: 'before', value: '2126-06-03T12:00' },
              { element: 'way', is: 'one_of', value: ['post', 'fetch'] },
              {
                all: [
                  { element: 'number', is: 'answered' },
                  { element: 'town', is: 'not_answered' },
                ],
              },
            ],
          },
        }),
      ],
    ),
    say('Weaving workshop'),
  );

const ruled = [
  'if(not ({weight} < 1 and {net} >= 2 or {weight} > 3 and {net} <= 4 or {weight} != 5), 1 - 2, -1)',
  'sum({madder}, {weld}) + min(1, 2) + max(1, 2) + average(1, 2) + count({motifs}) % 2',
  'round({net} / 3, 1) + floor(1.5) + ceil(1.5) + abs(-1) * length({number})',
  'if(includes({motifs}, "w") and answered({number}) and {way} = "post", 1, 0)',
  'days_between("2026-01-31", today()) + minutes_between({hour}, {hour}) + age("2000-01-31")',
  'year(today()) + month(today()) + day(today()) + weekday(today())',
].join(' + ');

/** A large order gets a longer confirmation. */
const ordered = (say: Say) => ({
  ...ending(say),
  confirmations: [
    {
      when: { element: 'total', is: 'greater_than', value: 100 },
      title: say('A large order'),
      message: say('It comes to {{total}}. **We call you** before we dye.'),
    },
  ],
});

/** Returns the order form in English and Arabic, whatever its pages wear. Its own language is English. */
function inLanguages(photo: string): GalleryForm {
  const english = order((text) => text, photo);
  const structure = { ...english, attrs: { ...english.attrs, languages: ['en', 'ar'] } };
  const document = { structure, settings: ending((text) => text) };
  const changes = listTexts(document).map((text) => ({ text, language: 'ar', to: arabic[text.text] }));
  return applyFormTranslations(document, changes);
}

/** A form that shows one question at a time. */
const single = (say: Say): FormNode =>
  named(
    stepsOf({}, [
      element('radio', 'found', {
        label: say('How did you find us?'),
        options: [
          'From a friend',
          'From a newspaper or a magazine that I read at the hairdresser',
          'From the web',
        ].map(say),
        required: true,
      }),
      element('textarea', 'work', { label: say('About your work'), help_text: say('We answer there.') }),
    ]),
    say('Weaving workshop'),
    say(description),
  );

/** A quiz with right answers, and a score of the form and of one group. */
const quiz = (say: Say): FormNode =>
  named(
    stepsOf({}, [
      element('text', 'name', { label: say('Full name') }),
      composite(
        'colours',
        [
          element('radio', 'red', {
            label: say('Which colours do you like?'),
            options: ['Madder', 'Weld'].map(say),
            correct: [say('Madder')],
            points: 2,
            explanation: say('With everything.'),
          }),
          element('score', 'colour_score', { label: say('Yarn'), counts: 'section' }),
        ],
        { label: say('Yarn') },
      ),
      element('number', 'looms', { label: say('The looms'), correct: [12] }),
      element('score', 'score', { label: say('Total'), pass_mark: 2 }),
    ]),
    say('Weaving workshop'),
  );

/** A form behind an access check. */
const short = (say: Say): FormNode =>
  named(stepsOf({}, [element('text', 'name', { label: say('Full name') })]), say('Weaving workshop'));

const ending = (say: Say) => ({
  confirmation_message: say('We write to you **within a week**, and look forward to your visit.'),
  editing: true,
});

/** The gallery forms by name: structure, and settings beside the theme. */
export const galleryForms: Readonly<Record<FormName, (say: Say, photo: string) => GalleryForm>> = {
  workshop: (say) => ({
    structure: workshop(say),
    settings: { ...ending(say), review_step: true, save_progress: true },
    thanks: say('Thank you, {{name}}'),
  }),
  choices: (say) => ({ structure: choices(say), settings: ending(say) }),
  files: (say) => ({ structure: files(say), settings: {} }),
  order: (say, photo) => ({ structure: order(say, photo), settings: ordered(say) }),
  languages: (_say, photo) => inLanguages(photo),
  single: (say) => ({ structure: single(say), settings: { layout: 'question', review_step: true } }),
  quiz: (say) => ({
    structure: quiz(say),
    settings: { quiz_results: 'answers', certificate_name_element: 'name', editing: true },
  }),
  closed: (say) => ({
    structure: short(say),
    settings: { access: 'closed', closed_message: say('The workshop is over. The next one is in **June**.') },
  }),
  early: (say) => ({
    structure: short(say),
    settings: { opens_at: '2126-06-01T08:00:00Z', time_zone: 'Europe/Berlin' },
  }),
  password: (say) => ({ structure: short(say), settings: { access: 'password', password: 'open sesame' } }),
  invited: (say) => ({ structure: short(say), settings: { access: 'invited' } }),
  full: (say) => ({ structure: short(say), settings: { max_submissions: 1 } }),
  waiting: (say) => ({
    structure: named(
      stepsOf({}, [
        element('text', 'name', { label: say('Full name') }),
        element('radio', 'course', {
          label: say('Course'),
          options: [
            { id: 'w', label: say('Weaving'), capacity: 1 },
            { id: 'd', label: say('Dyeing'), capacity: 3 },
          ],
        }),
      ]),
      say('Weaving workshop'),
    ),
    settings: { ...ending(say), max_submissions: 1, waiting_list: true },
  }),
};
