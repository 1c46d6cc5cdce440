import { optionsOf } from '#ast/tree.ts';
import { controlAttributes, grouped, invalidOf, labelled } from './frame.ts';
import { attributes, type Html, html } from './html.ts';
import type { Field } from './place.ts';
import { words } from './words.ts';

type Choice = { readonly value: string; readonly label: string; readonly isChosen: boolean };

/** All choices side by side or one below the other. The first has the field's id: links to the field lead there. */
function choices(
  field: Field,
  type: 'radio' | 'checkbox',
  list: readonly Choice[],
  layout = 'options',
): Html {
  const controls = list.map(({ value, label, isChosen }, index) => {
    const control = attributes({
      type,
      id: index === 0 && field.name,
      name: field.name,
      value,
      checked: isChosen,
      'aria-invalid': type === 'checkbox' && invalidOf(field),
      autofocus: index === 0 && field.hasFocus,
    });
    // The whole row is the label.
    return html`<label class="option"><input${control}><span>${label}</span></label>`;
  });
  return grouped(
    field,
    type,
    html`<div class="${layout}">
${controls}
</div>`,
  );
}

function optionsAs({ element }: Field, isChosen: (option: string) => boolean): Choice[] {
  return optionsOf(element).map((option) => ({ value: option, label: option, isChosen: isChosen(option) }));
}

/** Single choice: `radio`. */
export function radios(field: Field): Html {
  return choices(
    field,
    'radio',
    optionsAs(field, (option) => option === field.value),
  );
}

/** Any number of choices: `multiple_choice`. */
export function checkboxes(field: Field): Html {
  const chosen = new Set<unknown>(Array.isArray(field.value) ? field.value : []);
  return choices(
    field,
    'checkbox',
    optionsAs(field, (option) => chosen.has(option)),
  );
}

/** Two radio buttons, as one check box could not tell "no" from "not answered". The values are as `readFields` reads. */
export function yesOrNo(field: Field): Html {
  const list = [
    { value: 'yes', label: words.yes, isChosen: field.value === true },
    { value: 'no', label: words.no, isChosen: field.value === false },
  ];
  return choices(field, 'radio', list, 'options pair');
}

/** Single choice from a list: `dropdown`. Its first entry stands for no answer, so none is chosen unasked. */
export function dropdown(field: Field): Html {
  const { element, value } = field;
  const entries = optionsOf(element).map(
    (option) => html`<option${attributes({ value: option, selected: option === value })}>${option}</option>`,
  );
  return labelled(
    field,
    html`<select${attributes(controlAttributes(field))}>
<option value="">${element.attrs.placeholder || words.choose}</option>
${entries}
</select>`,
  );
}
