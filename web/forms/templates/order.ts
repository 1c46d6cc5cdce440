import type { Template } from './template.ts';

/** Somebody orders things, a row each. */
export const order = {
  id: 'order',
  title: 'Order',
  description: 'Items as rows, an address, and when to deliver.',
  structure: {
    type: 'form',
    attrs: { name: 'Order', description: 'We confirm every order by email.' },
    children: [
      {
        type: 'step',
        attrs: { title: 'What you order', layout: 'stack' },
        children: [
          {
            type: 'composite',
            attrs: { id: 'items', label: 'Item', layout: 'grid_4', repeatable: true },
            children: [
              {
                type: 'text',
                attrs: { id: 'article', label: 'Article', required: true, col_span: 2 },
                children: [],
              },
              {
                type: 'number',
                attrs: { id: 'quantity', label: 'Quantity', required: true, min: 1, step: 1 },
                children: [],
              },
              {
                type: 'dropdown',
                attrs: { id: 'size', label: 'Size', options: ['S', 'M', 'L', 'XL'] },
                children: [],
              },
            ],
          },
          {
            type: 'calculation',
            attrs: { id: 'pieces', label: 'Pieces in all', formula: 'sum({quantity})' },
            children: [],
          },
          { type: 'textarea', attrs: { id: 'remarks', label: 'Remarks' }, children: [] },
        ],
      },
      {
        type: 'step',
        attrs: { title: 'Where it goes', layout: 'grid_2' },
        children: [
          { type: 'text', attrs: { id: 'name', label: 'Name', required: true, col_span: 2 }, children: [] },
          { type: 'email', attrs: { id: 'email', label: 'Email address', required: true }, children: [] },
          { type: 'phone', attrs: { id: 'phone', label: 'Phone' }, children: [] },
          {
            type: 'textarea',
            attrs: { id: 'address', label: 'Delivery address', required: true, col_span: 2 },
            children: [],
          },
          {
            type: 'date',
            attrs: { id: 'delivery_date', label: 'Delivery date', min: 'today+2' },
            children: [],
          },
          { type: 'time', attrs: { id: 'delivery_time', label: 'Time' }, children: [] },
        ],
      },
    ],
  },
} as const satisfies Template;
