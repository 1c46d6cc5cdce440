import { ask, form, rows, step } from './notation.ts';
import { pictures } from './pictures.ts';
import type { Template } from './template.ts';

/** Somebody orders things, a row each. */
export const order: Template = {
  id: 'order',
  title: 'Order',
  description: 'Items as rows with pictures to choose from, and a total that is worked out.',
  structure: form(
    { name: 'Order', description: 'We confirm every order by email.' },
    step(
      { title: 'What you order', layout: 'stack' },
      rows(
        'items',
        'Item',
        { layout: 'grid_2' },
        ask('dropdown', 'article', 'Article', {
          options: [
            { id: 'scarf', label: 'Scarf, € 39', points: 39 },
            { id: 'blanket', label: 'Blanket, € 120', points: 120 },
            { id: 'cushion', label: 'Cushion, € 28.50', points: 28.5 },
          ],
          required: true,
        }),
        ask('number', 'quantity', 'Quantity', { required: true, min: 1, max: 100, step: 1 }),
        ask('picture_choice', 'pattern', 'Pattern', {
          options: [
            { id: 'stripes', label: 'Stripes', image: pictures.stripes.id },
            { id: 'checks', label: 'Checks', image: pictures.checks.id },
            { id: 'herringbone', label: 'Herringbone', image: pictures.herringbone.id },
          ],
          required: true,
          col_span: 2,
        }),
      ),
      ask('radio', 'delivery', 'Delivery', {
        options: [
          { id: 'fetch', label: 'I fetch it' },
          { id: 'post', label: 'By post, € 6.90', points: 6.9 },
        ],
        required: true,
      }),
      ask('calculation', 'total', 'Total', {
        formula: 'sum(points({article}) * {quantity}) + points({delivery})',
        decimals: 2,
        prefix: '€ ',
      }),
      ask('textarea', 'remarks', 'Remarks'),
    ),
    step(
      { title: 'Who you are', layout: 'grid_2' },
      ask('text', 'name', 'Name', { required: true, col_span: 2 }),
      ask('email', 'email', 'Email address', { required: true }),
      ask('phone', 'phone', 'Phone'),
      ask('textarea', 'address', 'Delivery address', {
        required: true,
        col_span: 2,
        show_when: { element: 'delivery', is: 'equals', value: 'post' },
      }),
      ask('date', 'delivery_date', 'Delivery date', { min: 'today+2' }),
      ask('time', 'delivery_time', 'Time'),
    ),
  ),
  settings: {
    review_step: true,
    confirmation_message: 'Thank you, {{name}}. Your order comes to {{total}}.',
    theme: {
      submit_label: 'Send the order',
      confirmation_title: 'We have your order',
      short_reference: true,
    },
  },
};
