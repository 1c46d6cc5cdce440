import { attributes, html } from '../../markup/html.ts';
import { type ElementRenderer, fieldAt } from './element-context.ts';

/** Renders a value from the URL, which each post repeats. It has no id, because no link leads to it. */
export const renderHiddenInput: ElementRenderer<'hidden'> = (element, place) => {
  const { name, value } = fieldAt(element, place);
  return html`<input${attributes({ type: 'hidden', name, value: typeof value === 'string' ? value : '' })}>`;
};
