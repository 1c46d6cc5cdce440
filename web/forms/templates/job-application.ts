import { ask, form, rows, step } from './notation.ts';
import type { Template } from './template.ts';

/** Somebody applies for a position. */
export const jobApplication: Template = {
  id: 'job-application',
  title: 'Job application',
  description: 'A person, their past positions as rows, and a CV.',
  structure: form(
    { name: 'Job application', description: 'It takes about ten minutes. Have your CV at hand.' },
    step(
      { title: 'You', layout: 'grid_2' },
      ask('text', 'name', 'Full name', { required: true, col_span: 2 }),
      ask('email', 'email', 'Email address', { required: true }),
      ask('phone', 'phone', 'Phone'),
      ask('yes_no', 'experienced', 'Have you worked in this field before?', {
        required: true,
        col_span: 2,
      }),
      ask('url', 'website', 'Website or profile', { placeholder: 'https://', col_span: 2 }),
    ),
    step(
      {
        title: 'Experience',
        description: 'Begin with the most recent position.',
        layout: 'stack',
        show_when: { element: 'experienced', is: 'equals', value: true },
      },
      rows(
        'positions',
        'Position',
        { layout: 'grid_2' },
        ask('text', 'employer', 'Employer', { required: true }),
        ask('text', 'role', 'Role', { required: true }),
        ask('date', 'from', 'From', { required: true, max: 'today' }),
        ask('date', 'until', 'Until', { help_text: 'Empty if you still work there.' }),
        ask('textarea', 'tasks', 'What you did', { col_span: 2 }),
      ),
    ),
    step(
      { title: 'The position', layout: 'stack' },
      ask('radio', 'hours', 'How much do you want to work?', {
        options: ['Full time', 'Part time', 'Either'],
        required: true,
      }),
      ask('date', 'start', 'When can you start?', { min: 'today' }),
      ask('textarea', 'motivation', 'Why us?', { required: true, max_length: 3_000 }),
      ask('file_upload', 'cv', 'CV', { required: true, accept: ['.pdf'], max_files: 1 }),
      ask('consent', 'kept', 'What you send us', {
        statement: 'You may keep my application for six months.',
        required: true,
      }),
    ),
  ),
  settings: {
    save_progress: true,
    review_step: true,
    confirmation_message: 'Thank you, {{name}}. You hear from us within two weeks, whatever we decide.',
    theme: { submit_label: 'Apply', confirmation_title: 'We have your application' },
  },
};
