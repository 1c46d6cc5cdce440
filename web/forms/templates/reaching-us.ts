import { ask, form, step } from './notation.ts';
import type { Template } from './template.ts';

/** Somebody wants something of us. */
export const reachingUs: readonly Template[] = [
  {
    id: 'contact',
    title: 'Contact',
    description: 'A subject, a message, and how to answer.',
    structure: form(
      { name: 'Contact us', description: 'We answer within two working days.' },
      step(
        { layout: 'grid_2' },
        ask('text', 'name', 'Your name', { required: true }),
        ask('email', 'email', 'Email address', { help_text: 'We send our answer there.', required: true }),
        ask('dropdown', 'topic', 'What is it about?', {
          options: ['A question', 'A problem', 'An offer', 'Something else'],
          col_span: 2,
        }),
        ask('text', 'subject', 'Subject', { required: true, col_span: 2 }),
        ask('textarea', 'message', 'Message', { required: true, col_span: 2 }),
        ask('file_upload', 'attachments', 'Attachments', {
          help_text: 'Pictures or documents that help us understand.',
          col_span: 2,
        }),
        ask('hidden', 'source', 'Where the visitor came from'),
      ),
    ),
    settings: {
      confirmation_message: 'Thank you, {{name}}. We read every message, and answer to {{email}}.',
    },
  },
  {
    id: 'appointment',
    title: 'Appointment request',
    description: 'What it is about, where to meet, and two times that suit.',
    structure: form(
      {
        name: 'Request an appointment',
        description: 'Tell us when it suits you. We confirm a time by email.',
      },
      step(
        { title: 'What you need', layout: 'stack' },
        ask('radio', 'service', 'What can we do for you?', {
          options: ['A first conversation', 'Advice', 'A repair'],
          required: true,
        }),
        ask('radio', 'place', 'Where shall we meet?', {
          options: [
            {
              id: 'video',
              label: 'By video',
              show_when: { element: 'service', is: 'not_equals', value: 'A repair' },
            },
            { id: 'office', label: 'At your office' },
            { id: 'home', label: 'At my address' },
          ],
          required: true,
        }),
        ask('textarea', 'address', 'Your address', {
          required: true,
          show_when: { element: 'place', is: 'equals', value: 'home' },
        }),
        ask('textarea', 'matter', 'What should we prepare for?', {
          help_text: 'A few words are enough.',
        }),
      ),
      step(
        { title: 'When, and who you are', layout: 'grid_2' },
        ask('date', 'first_day', 'A day that suits you', { required: true, min: 'today+1', max: 'today+90' }),
        ask('time', 'first_time', 'Time', { required: true, min: '08:00', max: '18:00' }),
        ask('date', 'second_day', 'Another day', { min: 'today+1', max: 'today+90' }),
        ask('time', 'second_time', 'Time on that day', { min: '08:00', max: '18:00' }),
        ask('text', 'name', 'Your name', { required: true }),
        ask('phone', 'phone', 'Phone', { help_text: 'Only if we have to move the appointment.' }),
        ask('email', 'email', 'Email address', { required: true, col_span: 2 }),
      ),
    ),
    settings: {
      review_step: true,
      confirmation_message:
        'Thank you, {{name}}. We confirm one of your times by email. The appointment stands once you have heard from us.',
      theme: { submit_label: 'Request the appointment', confirmation_title: 'We have your request' },
    },
  },
  {
    id: 'bug-report',
    title: 'Bug report',
    description: 'What happened, how to see it again, and how much it hurts.',
    structure: form(
      {
        name: 'Report a problem',
        description: 'The more exactly we can see it again, the sooner it is mended.',
      },
      step(
        { layout: 'stack' },
        ask('text', 'summary', 'What is wrong, in one sentence?', {
          placeholder: 'Saving a second time shows an empty page',
          required: true,
          max_length: 200,
        }),
        ask('radio', 'severity', 'How much does it hold you up?', {
          options: ['I cannot go on', 'I found a way around it', 'It is a blemish'],
          required: true,
        }),
        ask('radio', 'frequency', 'How often does it happen?', {
          options: ['Always', 'Now and then', 'Once so far'],
          options_layout: 'row',
        }),
        ask('textarea', 'steps', 'What did you do before?', {
          help_text: 'Step by step: what you opened, what you pressed.',
          required: true,
        }),
        ask('textarea', 'expected', 'What did you expect to happen?'),
        ask('textarea', 'workaround', 'How do you get around it?', {
          show_when: { element: 'severity', is: 'equals', value: 'I found a way around it' },
        }),
        ask('file_upload', 'pictures', 'Pictures of the screen', {
          help_text: 'Cover up what nobody else should see.',
          accept: ['image/*', '.pdf', '.txt'],
          max_files: 5,
        }),
        ask('email', 'email', 'Email address', { help_text: 'If we may ask you about it.' }),
        ask('hidden', 'version', 'Version'),
        ask('hidden', 'page', 'Page'),
      ),
    ),
    settings: {
      subject_element: 'summary',
      confirmations: [
        {
          when: { element: 'severity', is: 'equals', value: 'I cannot go on' },
          title: 'We look into it first',
          message: 'Thank you. What stops somebody from working comes before everything else.',
        },
      ],
      confirmation_message: 'Thank you for taking the time to write this down.',
      theme: { submit_label: 'Send the report', short_reference: true },
    },
  },
  {
    id: 'lead-qualification',
    title: 'Lead qualification',
    description: 'One question at a time, scored, with a promise that fits.',
    structure: form(
      {
        name: 'Let us see whether we fit',
        description: 'Six short questions, then we know how to help you.',
      },
      step(
        { title: 'Your plans', layout: 'stack' },
        ask('radio', 'goal', 'What do you want to achieve?', {
          options: [
            { id: 'replace', label: 'Replace what we use today', points: 30 },
            { id: 'begin', label: 'Begin with something new', points: 20 },
            { id: 'look', label: 'Look around', points: 0 },
          ],
          required: true,
        }),
        ask('dropdown', 'size', 'How many people will use it?', {
          options: [
            { id: 'few', label: '1 to 10', points: 5 },
            { id: 'some', label: '11 to 50', points: 15 },
            { id: 'many', label: '51 to 250', points: 25 },
            { id: 'most', label: 'More than 250', points: 30 },
          ],
          required: true,
        }),
        ask('radio', 'start', 'When do you want to start?', {
          options: [
            { id: 'now', label: 'Within a month', points: 40 },
            { id: 'soon', label: 'Within half a year', points: 20 },
            { id: 'open', label: 'That is open', points: 0 },
          ],
          required: true,
        }),
        ask('multiple_choice', 'needs', 'What matters most?', {
          options: ['Price', 'Data protection', 'Integration', 'Support'],
          other: true,
          max_choices: 2,
        }),
        ask('text', 'company', 'Company', { required: true, autocomplete: 'organization' }),
        ask('email', 'email', 'Email address at work', { required: true }),
        ask('calculation', 'score', 'Score', {
          formula: 'points({goal}) + points({size}) + points({start})',
          hidden: true,
        }),
        ask('hidden', 'utm_source', 'Source'),
        ask('hidden', 'utm_campaign', 'Campaign'),
      ),
    ),
    settings: {
      layout: 'question',
      confirmations: [
        {
          when: { element: 'score', is: 'at_least', value: 60 },
          title: 'That sounds like a fit',
          message: 'Somebody who knows your field writes to you within one working day.',
        },
      ],
      confirmation_message:
        'Thank you. We send you what helps you to look around, and are there when you need us.',
      theme: { color: '#4338ca', font: 'space-grotesk', submit_label: 'Show me what comes next' },
    },
  },
];
