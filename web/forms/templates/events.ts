import { ask, form, rows, show, step, tell } from './notation.ts';
import { pictures } from './pictures.ts';
import type { Template } from './template.ts';

/** Somebody takes part in something. */
export const events: readonly Template[] = [
  {
    id: 'event-registration',
    title: 'Event registration',
    description: 'Who comes, to which sessions, with places that run out.',
    structure: form(
      { name: 'Event registration', description: 'Register for our day of talks and workshops.' },
      step(
        { title: 'About you', layout: 'grid_2' },
        ask('text', 'first_name', 'First name', { required: true }),
        ask('text', 'last_name', 'Last name', { required: true }),
        ask('email', 'email', 'Email address', {
          help_text: 'Your ticket is sent there.',
          required: true,
          unique: true,
          error_message: 'Enter an email address that is not registered yet, like name@example.com.',
        }),
        ask('phone', 'phone', 'Phone'),
        ask('text', 'organisation', 'Organisation', { col_span: 2 }),
      ),
      step(
        { title: 'Your day', layout: 'stack' },
        ask('multiple_choice', 'sessions', 'Which sessions do you want to attend?', {
          options: [
            'Opening talk',
            { id: 'research', label: 'Workshop: research', capacity: 20 },
            { id: 'prototypes', label: 'Workshop: prototypes', capacity: 20 },
            'Panel',
            'Dinner',
          ],
          required: true,
          max_choices: 4,
        }),
        ask('radio', 'diet', 'What do you eat?', {
          options: ['Everything', 'Vegetarian', 'Vegan'],
          other: true,
          show_when: { element: 'sessions', is: 'contains', value: 'Dinner' },
        }),
        ask('textarea', 'needs', 'What else should we know?', {
          help_text: 'Allergies, access, anything that makes the day better for you.',
        }),
        ask('consent', 'photos', 'Photos', {
          statement: 'You may publish photos of the day that I am on.',
        }),
      ),
    ),
    settings: {
      editing: true,
      confirmation_message: 'Thank you, {{first_name}}. You are registered for: {{sessions}}.',
      theme: { submit_label: 'Register', confirmation_title: 'See you there' },
    },
  },
  {
    id: 'rsvp',
    title: 'RSVP',
    description: 'Yes or no, who comes along, and a song for the evening.',
    structure: form(
      { name: 'You are invited', description: 'Please answer until two weeks before the day.' },
      step(
        { layout: 'stack' },
        ask('text', 'name', 'Your name', { required: true }),
        ask('yes_no', 'coming', 'Will you come?', { required: true }),
        rows(
          'guests',
          'Who comes with you',
          { layout: 'grid_2', show_when: { element: 'coming', is: 'equals', value: true } },
          ask('text', 'guest', 'Name', { required: true }),
          ask('dropdown', 'age', 'Age', { options: ['Grown up', '7 to 17', 'Under 7'] }),
        ),
        ask('multiple_choice', 'meals', 'What do you and your guests eat?', {
          options: ['Meat', 'Fish', 'Vegetarian', 'Vegan'],
          other: true,
          options_layout: 'grid_2',
          show_when: { element: 'coming', is: 'equals', value: true },
        }),
        ask('text', 'song', 'Which song must be played?', {
          show_when: { element: 'coming', is: 'equals', value: true },
        }),
        ask('textarea', 'words', 'A few words to us'),
        ask('calculation', 'people', 'How many you are', {
          formula: 'if({coming} = true, count({guests}) + 1, 0)',
          hidden: true,
        }),
      ),
    ),
    settings: {
      editing: true,
      confirmations: [
        {
          when: { element: 'coming', is: 'equals', value: false },
          title: 'What a pity',
          message: 'We will miss you, {{name}}. Thank you for letting us know.',
        },
      ],
      confirmation_message: 'How good that you come, {{name}}. If anything changes, come back by your link.',
      theme: {
        color: '#9d174d',
        font: 'fraunces',
        cover: pictures.garland.id,
        corner: 'round',
        density: 'airy',
        submit_label: 'Send my answer',
        confirmation_title: 'We look forward to it',
      },
    },
  },
  {
    id: 'volunteer-shifts',
    title: 'Volunteer shifts',
    description: 'Shifts with so many places each, and what one brings along.',
    structure: form(
      { name: 'Help at the summer fair', description: 'Choose your shifts. Whatever is full is taken.' },
      step(
        { title: 'Your shifts', layout: 'stack' },
        show(
          pictures.fairground.id,
          'The fairground from above: the gate in the west, the big tent in the north, the kitchen in the north east, the office in the south.',
          'Welcome is at the green gate, children play in the yellow tent, the red one is the kitchen.',
        ),
        ask('multiple_choice', 'shifts', 'When can you help?', {
          options: [
            { id: 'fri-evening', label: 'Friday, 17:00 to 21:00: setting up', capacity: 12 },
            { id: 'sat-morning', label: 'Saturday, 8:00 to 12:00: welcome', capacity: 6 },
            { id: 'sat-noon', label: 'Saturday, 12:00 to 16:00: kitchen', capacity: 8 },
            { id: 'sat-evening', label: 'Saturday, 16:00 to 20:00: children', capacity: 8 },
            { id: 'sun-morning', label: 'Sunday, 9:00 to 13:00: clearing up', capacity: 12 },
          ],
          required: true,
          max_choices: 3,
        }),
        ask('yes_no', 'hygiene', 'Do you have a food hygiene certificate?', {
          show_when: { element: 'shifts', is: 'contains', value: 'sat-noon' },
          required: true,
        }),
        ask('matrix', 'skills', 'What do you like to do?', {
          rows: ['Talking with people', 'Working with my hands', 'Organising'],
          options: ['Gladly', 'If need be', 'Rather not'],
        }),
        ask('radio', 'shirt', 'Size of your shirt', {
          options: ['S', 'M', 'L', 'XL'],
          options_layout: 'row',
        }),
      ),
      step(
        { title: 'You', layout: 'grid_2' },
        ask('text', 'name', 'Your name', { required: true }),
        ask('phone', 'phone', 'Mobile phone', { required: true }),
        ask('email', 'email', 'Email address', { required: true, unique: true, col_span: 2 }),
        ask('text', 'emergency', 'Whom shall we call in an emergency?', {
          help_text: 'A name and a number.',
          autocomplete: 'off',
          col_span: 2,
        }),
        ask('consent', 'list', 'The list of helpers', {
          statement: 'My name and number may stand on the list that all helpers of my shifts get.',
        }),
      ),
    ),
    settings: {
      editing: true,
      confirmation_message: 'Thank you, {{name}}. We count on you: {{shifts}}.',
      theme: { color: '#166534', font: 'nunito', corner: 'round', submit_label: 'Count me in' },
    },
  },
  {
    id: 'waiver',
    title: 'Consent and waiver',
    description: 'Terms to read, a parent where one is needed, and a signature.',
    structure: form(
      { name: 'Taking part in the climbing course', description: 'One form for each person who climbs.' },
      step(
        { title: 'Who takes part', layout: 'grid_2' },
        ask('text', 'name', 'Full name', { required: true }),
        ask('date', 'born', 'Date of birth', { required: true, max: 'today' }),
        ask('text', 'guardian', 'Name of a parent or guardian', {
          help_text: 'Who is under 18 needs the signature of a grown-up.',
          required: true,
          col_span: 2,
          show_when: { element: 'born', is: 'greater_than', value: 'today-6574' },
        }),
        ask('text', 'emergency', 'Emergency contact', { required: true, autocomplete: 'off' }),
        ask('phone', 'emergency_phone', 'Phone of the emergency contact', {
          required: true,
          autocomplete: 'off',
        }),
        ask('textarea', 'health', 'What should the instructor know about your health?', { col_span: 2 }),
      ),
      step(
        { title: 'What you agree to', layout: 'stack' },
        tell(
          'Climbing has risks that **care does not take away**.\n\n- I follow what the instructors say.\n- I say so when I do not feel well.\n- I use the equipment as it was shown to me.',
        ),
        ask('consent', 'risk', 'Risk', {
          statement: 'I have read this, and take part at my own risk.',
          required: true,
        }),
        ask('consent', 'photos', 'Photos', {
          statement: 'You may show photos of the course that I am on.',
        }),
        ask('signature', 'signature', 'Signature', {
          help_text: 'Of the person who takes part, or of the parent or guardian.',
          required: true,
        }),
      ),
    ),
    settings: {
      confirmation_message: 'Thank you, {{name}}. We keep what you signed with its date.',
      theme: { color: '#0f766e', submit_label: 'Sign and send', confirmation_title: 'Signed' },
    },
  },
];
