import type { Template } from './template.ts';

/** Somebody tells how it was. */
export const feedback = {
  id: 'feedback',
  title: 'Feedback',
  description: 'A few ratings, and room for words.',
  structure: {
    type: 'form',
    attrs: { name: 'Feedback', description: 'Two minutes that help us get better.' },
    children: [
      {
        type: 'step',
        attrs: { layout: 'stack' },
        children: [
          {
            type: 'rating',
            attrs: { id: 'overall', label: 'How was it overall?', required: true },
            children: [],
          },
          {
            type: 'textarea',
            attrs: {
              id: 'wrong',
              label: 'What went wrong?',
              show_when: { element: 'overall', is: 'at_most', value: 2 },
            },
            children: [],
          },
          {
            type: 'matrix',
            attrs: {
              id: 'details',
              label: 'In detail',
              rows: ['Quality', 'Support', 'Speed', 'Price'],
              options: ['Very good', 'Good', 'So-so', 'Bad', 'Very bad'],
            },
            children: [],
          },
          {
            type: 'scale',
            attrs: {
              id: 'recommendation',
              label: 'How likely are you to recommend us?',
              help_text: 'From 0 (not at all) to 10 (certainly).',
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
