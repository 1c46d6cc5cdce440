import type { Template } from './template.ts';

/** Somebody takes part in something. */
export const eventRegistration = {
  id: 'event-registration',
  title: 'Event registration',
  description: 'Who comes, to which sessions, and what they eat.',
  structure: {
    type: 'form',
    attrs: { name: 'Event registration', description: 'Register for our day of talks and workshops.' },
    children: [
      {
        type: 'step',
        attrs: { title: 'About you', layout: 'grid_2' },
        children: [
          { type: 'text', attrs: { id: 'first_name', label: 'First name', required: true }, children: [] },
          { type: 'text', attrs: { id: 'last_name', label: 'Last name', required: true }, children: [] },
          {
            type: 'email',
            attrs: {
              id: 'email',
              label: 'Email address',
              help_text: 'Your ticket is sent there.',
              required: true,
            },
            children: [],
          },
          { type: 'phone', attrs: { id: 'phone', label: 'Phone' }, children: [] },
          { type: 'text', attrs: { id: 'organisation', label: 'Organisation', col_span: 2 }, children: [] },
        ],
      },
      {
        type: 'step',
        attrs: { title: 'Your day', layout: 'stack' },
        children: [
          {
            type: 'multiple_choice',
            attrs: {
              id: 'sessions',
              label: 'Which sessions do you want to attend?',
              options: [
                'Opening talk',
                { id: 'research', label: 'Workshop: research', capacity: 20 },
                { id: 'prototypes', label: 'Workshop: prototypes', capacity: 20 },
                'Panel',
                'Dinner',
              ],
              required: true,
              max_choices: 4,
            },
            children: [],
          },
          {
            type: 'radio',
            attrs: {
              id: 'diet',
              label: 'What do you eat?',
              options: ['Everything', 'Vegetarian', 'Vegan'],
              other: true,
              show_when: { element: 'sessions', is: 'contains', value: 'Dinner' },
            },
            children: [],
          },
          {
            type: 'textarea',
            attrs: {
              id: 'needs',
              label: 'What else should we know?',
              help_text: 'Allergies, access, anything that makes the day better for you.',
            },
            children: [],
          },
          {
            type: 'yes_no',
            attrs: { id: 'photos', label: 'May we publish photos that you are on?', required: true },
            children: [],
          },
        ],
      },
    ],
  },
} as const satisfies Template;
