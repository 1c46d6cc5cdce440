import type { Template } from './template.ts';

const scale = ['Very good', 'Good', 'So-so', 'Bad', 'Very bad'] as const;

/** Somebody tells how it was. */
export const feedback = {
  id: 'feedback',
  title: 'Feedback',
  description: 'A few ratings, a number, and room for words.',
  structure: {
    type: 'form',
    attrs: { name: 'Feedback', description: 'Two minutes that help us get better.' },
    children: [
      {
        type: 'step',
        attrs: { layout: 'stack' },
        children: [
          {
            type: 'radio',
            attrs: { id: 'overall', label: 'How was it overall?', options: scale, required: true },
            children: [],
          },
          {
            type: 'textarea',
            attrs: {
              id: 'wrong',
              label: 'What went wrong?',
              show_when: { element: 'overall', is: 'one_of', value: ['Bad', 'Very bad'] },
            },
            children: [],
          },
          {
            type: 'composite',
            attrs: { id: 'details', label: 'In detail', layout: 'grid_2' },
            children: [
              { type: 'dropdown', attrs: { id: 'quality', label: 'Quality', options: scale }, children: [] },
              { type: 'dropdown', attrs: { id: 'support', label: 'Support', options: scale }, children: [] },
              { type: 'dropdown', attrs: { id: 'speed', label: 'Speed', options: scale }, children: [] },
              { type: 'dropdown', attrs: { id: 'price', label: 'Price', options: scale }, children: [] },
            ],
          },
          {
            type: 'number',
            attrs: {
              id: 'recommendation',
              label: 'How likely are you to recommend us?',
              help_text: 'From 0 (not at all) to 10 (certainly).',
              min: 0,
              max: 10,
              step: 1,
            },
            children: [],
          },
          { type: 'textarea', attrs: { id: 'better', label: 'What should we do better?' }, children: [] },
          { type: 'yes_no', attrs: { id: 'contact', label: 'May we ask you about it?' }, children: [] },
          {
            type: 'email',
            attrs: {
              id: 'email',
              label: 'Email address',
              required: true,
              show_when: { element: 'contact', is: 'equals', value: true },
            },
            children: [],
          },
        ],
      },
    ],
  },
} as const satisfies Template;
