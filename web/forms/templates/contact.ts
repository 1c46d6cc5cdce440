import type { Template } from './template.ts';

/** Somebody wants to reach us. */
export const contact = {
  id: 'contact',
  title: 'Contact',
  description: 'A subject, a message, and how to answer.',
  structure: {
    type: 'form',
    attrs: { name: 'Contact us', description: 'We answer within two working days.' },
    children: [
      {
        type: 'step',
        attrs: { layout: 'grid_2' },
        children: [
          { type: 'text', attrs: { id: 'name', label: 'Your name', required: true }, children: [] },
          {
            type: 'email',
            attrs: {
              id: 'email',
              label: 'Email address',
              help_text: 'We send our answer there.',
              required: true,
            },
            children: [],
          },
          {
            type: 'dropdown',
            attrs: {
              id: 'topic',
              label: 'What is it about?',
              options: ['A question', 'A problem', 'An offer', 'Something else'],
              col_span: 2,
            },
            children: [],
          },
          {
            type: 'text',
            attrs: { id: 'subject', label: 'Subject', required: true, col_span: 2 },
            children: [],
          },
          {
            type: 'textarea',
            attrs: { id: 'message', label: 'Message', required: true, col_span: 2 },
            children: [],
          },
          {
            type: 'file_upload',
            attrs: {
              id: 'attachments',
              label: 'Attachments',
              help_text: 'Pictures or documents that help us understand.',
              col_span: 2,
            },
            children: [],
          },
        ],
      },
    ],
  },
} as const satisfies Template;
