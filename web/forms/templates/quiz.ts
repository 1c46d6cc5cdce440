import { ask, form, step } from './notation.ts';
import { pictures } from './pictures.ts';
import type { Template } from './template.ts';

/** Somebody is asked what they know. */
export const quiz: Template = {
  id: 'quiz',
  title: 'Quiz',
  description: 'Points for each answer, pictures to tell apart, and a verdict at the end.',
  structure: form(
    { name: 'How well do you know weaving?', description: 'Four questions. Look nothing up.' },
    step(
      { layout: 'stack' },
      ask('radio', 'warp', 'Which threads run along the loom?', {
        options: ['The weft', { id: 'warp', label: 'The warp', points: 1 }, 'The selvedge'],
        required: true,
      }),
      ask('picture_choice', 'twill', 'Which of these is a twill, as denim is?', {
        options: [
          { id: 'a', label: 'A', image: pictures.satinWeave.id },
          { id: 'b', label: 'B', image: pictures.twillWeave.id, points: 1 },
          { id: 'c', label: 'C', image: pictures.plainWeave.id },
        ],
        required: true,
      }),
      ask('radio', 'jacquard', 'What did Jacquard’s loom read?', {
        options: ['Drums with pins', 'Rolls of music', { id: 'cards', label: 'Punched cards', points: 1 }],
        required: true,
      }),
      ask('multiple_choice', 'plants', 'Which fibres come from plants?', {
        options: [
          { id: 'linen', label: 'Linen', points: 1 },
          { id: 'silk', label: 'Silk', points: -1 },
          { id: 'hemp', label: 'Hemp', points: 1 },
          { id: 'wool', label: 'Wool', points: -1 },
        ],
        required: true,
      }),
      ask('calculation', 'score', 'Score', {
        formula: 'max(0, points({warp}) + points({twill}) + points({jacquard}) + points({plants}))',
        hidden: true,
      }),
    ),
  ),
  settings: {
    layout: 'question',
    confirmations: [
      {
        when: { element: 'score', is: 'at_least', value: 5 },
        title: 'A master of the craft',
        message: 'Every point there is: {{score}} of 5.',
      },
      {
        when: { element: 'score', is: 'at_least', value: 3 },
        title: 'Well woven',
        message: 'You have {{score}} of 5 points.',
      },
    ],
    confirmation_message:
      'You have {{score}} of 5 points. The right answers: the warp, B, punched cards, linen and hemp.',
    theme: { color: '#a16207', font: 'space-grotesk', corner: 'round', submit_label: 'Show my points' },
  },
};
