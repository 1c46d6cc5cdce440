import { ask, form, step } from './notation.ts';
import type { Template } from './template.ts';

/** Somebody says how it is. */
export const opinions: readonly Template[] = [
  {
    id: 'feedback',
    title: 'Feedback',
    description: 'Stars, a matrix, and room for words.',
    structure: form(
      { name: 'Feedback', description: 'Two minutes that help us get better.' },
      step(
        { layout: 'stack' },
        ask('rating', 'overall', 'How was it overall?', { required: true }),
        ask('textarea', 'wrong', 'What went wrong?', {
          show_when: { element: 'overall', is: 'at_most', value: 2 },
        }),
        ask('matrix', 'details', 'In detail', {
          rows: ['Quality', 'Support', 'Speed', 'Price'],
          options: ['Very good', 'Good', 'So-so', 'Bad', 'Very bad'],
        }),
        ask('scale', 'recommendation', 'How likely are you to recommend us?', {
          low_label: 'Not at all',
          high_label: 'Certainly',
        }),
        ask('textarea', 'better', 'What should we do better?'),
        ask('yes_no', 'contact', 'May we ask you about it?'),
        ask('email', 'email', 'Email address', {
          required: true,
          show_when: { element: 'contact', is: 'equals', value: true },
        }),
      ),
    ),
    settings: {
      confirmations: [
        {
          when: { element: 'overall', is: 'at_most', value: 2 },
          title: 'We are sorry',
          message: 'Thank you for telling us. Somebody reads this today.',
        },
      ],
      confirmation_message: 'Thank you. Every answer is read by a person.',
    },
  },
  {
    id: 'recommendation',
    title: 'Recommendation (NPS)',
    description: 'From 0 to 10, and the one question that follows from it.',
    structure: form(
      { name: 'Would you recommend us?', description: 'Two questions, less than a minute.' },
      step(
        { layout: 'stack' },
        ask('scale', 'recommendation', 'How likely are you to recommend us to a friend or colleague?', {
          low_label: 'Not at all likely',
          high_label: 'Extremely likely',
          required: true,
        }),
        ask('textarea', 'change', 'What would we have to change first?', {
          show_when: { element: 'recommendation', is: 'at_most', value: 6 },
        }),
        ask('textarea', 'missing', 'What is missing for a 9 or a 10?', {
          show_when: { element: 'recommendation', is: 'one_of', value: [7, 8] },
        }),
        ask('textarea', 'liked', 'What do you like most?', {
          show_when: { element: 'recommendation', is: 'at_least', value: 9 },
        }),
        ask('consent', 'quoted', 'Your words', {
          statement: 'You may quote what I wrote, with my first name.',
          show_when: { element: 'liked', is: 'answered' },
        }),
        ask('text', 'first_name', 'First name', {
          required: true,
          show_when: { element: 'quoted', is: 'answered' },
        }),
        ask('hidden', 'customer', 'Customer'),
      ),
    ),
    settings: {
      layout: 'question',
      confirmations: [
        {
          when: { element: 'recommendation', is: 'at_least', value: 9 },
          title: 'That makes our day',
          message: 'Thank you. If you know somebody whom we could help, tell them about us.',
        },
        {
          when: { element: 'recommendation', is: 'at_most', value: 6 },
          title: 'Thank you for being frank',
          message: 'We read each of these answers, and mend what we can.',
        },
      ],
      confirmation_message: 'Thank you. That helps us to get better.',
      theme: { color: '#1d4ed8', font: 'inter' },
    },
  },
  {
    id: 'course-feedback',
    title: 'Course feedback',
    description: 'What was learned, how it was taught, and what should change.',
    structure: form(
      { name: 'How was the course?', description: 'Nobody is asked who they are. Be as frank as you like.' },
      step(
        { title: 'The course', layout: 'stack' },
        ask('rating', 'overall', 'The course as a whole', { required: true }),
        ask('matrix', 'statements', 'How far do you agree?', {
          rows: [
            { id: 'goals', label: 'I knew what we wanted to learn.' },
            { id: 'pace', label: 'The pace was right for me.' },
            { id: 'practice', label: 'There was enough practice.' },
            { id: 'use', label: 'I can use what I learned.' },
          ],
          options: ['Fully', 'Mostly', 'Partly', 'Not at all'],
          required: true,
        }),
        ask('scale', 'level', 'How hard was it?', {
          from: 1,
          to: 7,
          low_label: 'Too easy',
          high_label: 'Too hard',
        }),
      ),
      step(
        { title: 'Teaching', layout: 'stack' },
        ask('rating', 'teacher', 'How well was it explained?', { symbol: 'hearts', required: true }),
        ask('ranking', 'parts', 'Which parts helped you most?', {
          help_text: 'The most helpful one first.',
          options: ['Lectures', 'Exercises', 'Discussion', 'Material'],
        }),
        ask('textarea', 'keep', 'What should stay as it is?'),
        ask('textarea', 'change', 'What should change?'),
        ask('hidden', 'course', 'Course'),
      ),
    ),
    settings: {
      confirmation_message: 'Thank you. The next course is better for it.',
      theme: { color: '#7c2d12', font: 'source-serif' },
    },
  },
  {
    id: 'satisfaction',
    title: 'Satisfaction in two languages',
    description: 'In English and German; visitors read their own language.',
    structure: form(
      {
        name: 'How satisfied are you?',
        description: 'Four questions about your last visit.',
        languages: ['en', 'de'],
        translations: {
          de: { name: 'Wie zufrieden sind Sie?', description: 'Vier Fragen zu Ihrem letzten Besuch.' },
        },
      },
      step(
        { layout: 'stack' },
        ask('rating', 'satisfaction', 'How satisfied are you with us?', {
          low_label: 'Not at all',
          high_label: 'Entirely',
          required: true,
          translations: {
            de: {
              label: 'Wie zufrieden sind Sie mit uns?',
              low_label: 'Gar nicht',
              high_label: 'Vollkommen',
            },
          },
        }),
        ask('matrix', 'areas', 'And with this in particular?', {
          rows: [
            { id: 'welcome', label: 'Welcome' },
            { id: 'advice', label: 'Advice' },
            { id: 'waiting', label: 'Time of waiting' },
          ],
          options: [
            { id: 'good', label: 'Satisfied' },
            { id: 'fair', label: 'Partly' },
            { id: 'poor', label: 'Not satisfied' },
          ],
          translations: {
            de: {
              label: 'Und womit im Einzelnen?',
              rows: { welcome: 'Empfang', advice: 'Beratung', waiting: 'Wartezeit' },
              options: { good: 'Zufrieden', fair: 'Teils, teils', poor: 'Nicht zufrieden' },
            },
          },
        }),
        ask('scale', 'return', 'How likely are you to come back?', {
          low_label: 'Not at all likely',
          high_label: 'Very likely',
          translations: {
            de: {
              label: 'Wie wahrscheinlich ist es, dass Sie wiederkommen?',
              low_label: 'Sehr unwahrscheinlich',
              high_label: 'Sehr wahrscheinlich',
            },
          },
        }),
        ask('textarea', 'wish', 'What do you wish for?', {
          translations: { de: { label: 'Was wünschen Sie sich?' } },
        }),
      ),
    ),
    settings: {
      confirmation_message: 'Thank you. We are glad that you took the time.',
      theme: { color: '#0e7490', font: 'figtree', submit_label: 'Send' },
      translations: {
        de: {
          confirmation_message: 'Vielen Dank. Schön, dass Sie sich die Zeit genommen haben.',
          'theme.submit_label': 'Absenden',
        },
      },
    },
  },
  {
    id: 'product-ranking',
    title: 'Product ranking',
    description: 'What to build next, put in order by those who use it.',
    structure: form(
      { name: 'What shall we build next?', description: 'Put in order what helps you most.' },
      step(
        { title: 'Your order', layout: 'stack' },
        ask('ranking', 'features', 'What would help you most?', {
          help_text: 'The most important one comes first.',
          options: ['Faster search', 'An app for phones', 'More integrations', 'Reports', 'Offline use'],
          required: true,
        }),
        ask('textarea', 'why', 'What would you do with your first choice?'),
      ),
      step(
        { title: 'How you use it today', layout: 'stack' },
        ask('matrix', 'use', 'Which parts do you use?', {
          rows: ['Search', 'Reports', 'Export', 'Sharing'],
          options: ['Daily', 'Weekly', 'Rarely', 'Never'],
        }),
        ask('scale', 'loss', 'How disappointed would you be without our product?', {
          from: 1,
          to: 5,
          low_label: 'Not at all',
          high_label: 'Very',
        }),
        ask('yes_no', 'talk', 'May we talk with you for half an hour?'),
        ask('email', 'email', 'Email address', {
          required: true,
          show_when: { element: 'talk', is: 'equals', value: true },
        }),
      ),
    ),
    settings: {
      confirmation_message: 'Thank you. We publish the order that comes out of it.',
      theme: { color: '#6d28d9', font: 'figtree', submit_label: 'Send my order' },
    },
  },
];
