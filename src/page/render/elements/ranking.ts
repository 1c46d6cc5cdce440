import { fillTemplate } from '#ast/basics/words.ts';
import { optionsOf } from '#ast/form/tree.ts';
import { attributes, html } from '../../markup/html.ts';
import { fieldAt, fillPlainText } from './element-context.ts';
import { invalidOf, renderControlGroup } from './frame.ts';
import { styled } from './styled.ts';

const style = `
.places { display: grid; gap: var(--2); margin-block-start: var(--2); padding-inline-start: 1.75rem; font-variant-numeric: tabular-nums; }
.places > li { padding-inline-start: var(--1); }
.places > li::marker { color: var(--soft); }
.places select { margin-block-start: 0; }
`;

/** A numbered list in which an option is chosen for each rank. */
export const ranking = styled<'ranking'>([style], (element, place) => {
  const field = fieldAt(element, place);
  const { words } = place.page;
  const label = fillPlainText(element.attrs.label, place);
  const given: readonly unknown[] = Array.isArray(field.value) ? field.value : [field.value];
  const options = optionsOf(element);
  const places = options.map((_, index) => {
    const control = attributes({
      id: index === 0 ? field.name : `_place-${index + 1}-${field.name}`,
      name: field.name,
      'aria-label': fillTemplate(words.row, { label, number: index + 1 }),
      'aria-invalid': invalidOf(field),
      autofocus: index === 0 && field.hasFocus,
    });
    const entries = options.map(
      ({ id, label }) =>
        html`<option${attributes({ value: id, selected: id === given[index] })}>${label}</option>`,
    );
    return html`<li class="labelled"><select${control}>
<option value="">${words.choose}</option>
${entries}
</select></li>`;
  });
  return renderControlGroup(field, 'checkbox', html`<ol class="places">${places}</ol>`);
});
