import { attributes, html } from '../../markup/html.ts';
import { fieldAt } from './place.ts';
import type { Draw } from './styled.ts';

/** What came with the address goes along with each post. It has no id: there is nothing to lead to. */
export const hidden: Draw<'hidden'> = (element, place) => {
  const { name, value } = fieldAt(element, place);
  return html`<input${attributes({ type: 'hidden', name, value: typeof value === 'string' ? value : '' })}>`;
};
