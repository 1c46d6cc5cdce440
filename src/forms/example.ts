/** A form that asks one question, in the examples of requests. */
export const exampleStructure = {
  type: 'form',
  attrs: { name: 'Contact', description: 'How may we help?' },
  children: [
    {
      type: 'step',
      attrs: { title: 'Your message', layout: 'stack' },
      children: [
        { type: 'textarea', attrs: { id: 'message', label: 'Message', required: true }, children: [] },
      ],
    },
  ],
};
