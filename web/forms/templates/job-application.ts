import type { Template } from './template.ts';

/** Somebody applies for a position. */
export const jobApplication = {
  id: 'job-application',
  title: 'Job application',
  description: 'A person, their past positions as rows, and a CV.',
  structure: {
    type: 'form',
    attrs: { name: 'Job application', description: 'It takes about ten minutes. Have your CV at hand.' },
    children: [
      {
        type: 'step',
        attrs: { title: 'You', layout: 'grid_2' },
        children: [
          {
            type: 'text',
            attrs: { id: 'name', label: 'Full name', required: true, col_span: 2 },
            children: [],
          },
          { type: 'email', attrs: { id: 'email', label: 'Email address', required: true }, children: [] },
          { type: 'phone', attrs: { id: 'phone', label: 'Phone' }, children: [] },
          {
            type: 'yes_no',
            attrs: {
              id: 'experienced',
              label: 'Have you worked in this field before?',
              required: true,
              col_span: 2,
            },
            children: [],
          },
          {
            type: 'url',
            attrs: { id: 'website', label: 'Website or profile', placeholder: 'https://', col_span: 2 },
            children: [],
          },
        ],
      },
      {
        type: 'step',
        attrs: {
          title: 'Experience',
          description: 'Begin with the most recent position.',
          layout: 'stack',
          show_when: { element: 'experienced', is: 'equals', value: true },
        },
        children: [
          {
            type: 'composite',
            attrs: { id: 'positions', label: 'Position', layout: 'grid_2', repeatable: true },
            children: [
              { type: 'text', attrs: { id: 'employer', label: 'Employer', required: true }, children: [] },
              { type: 'text', attrs: { id: 'role', label: 'Role', required: true }, children: [] },
              {
                type: 'date',
                attrs: { id: 'from', label: 'From', required: true, max: 'today' },
                children: [],
              },
              {
                type: 'date',
                attrs: { id: 'until', label: 'Until', help_text: 'Empty if you still work there.' },
                children: [],
              },
              { type: 'textarea', attrs: { id: 'tasks', label: 'What you did', col_span: 2 }, children: [] },
            ],
          },
        ],
      },
      {
        type: 'step',
        attrs: { title: 'The position', layout: 'stack' },
        children: [
          {
            type: 'radio',
            attrs: {
              id: 'hours',
              label: 'How much do you want to work?',
              options: ['Full time', 'Part time', 'Either'],
              required: true,
            },
            children: [],
          },
          { type: 'date', attrs: { id: 'start', label: 'When can you start?', min: 'today' }, children: [] },
          {
            type: 'textarea',
            attrs: { id: 'motivation', label: 'Why us?', required: true, max_length: 3_000 },
            children: [],
          },
          {
            type: 'file_upload',
            attrs: { id: 'cv', label: 'CV', required: true, accept: ['.pdf'], max_files: 1 },
            children: [],
          },
          {
            type: 'consent',
            attrs: {
              id: 'kept',
              label: 'What you send us',
              statement: 'You may keep my application for six months.',
              required: true,
            },
            children: [],
          },
        ],
      },
    ],
  },
} as const satisfies Template;
