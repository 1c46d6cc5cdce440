import { optionsLayoutOf } from '#ast/form/tree.ts';
import { html, renderPicture } from '../../markup/html.ts';
import { listChoices, renderChoices } from './choices.ts';
import { fieldAt, withStyles } from './element-context.ts';

/** The control is in the corner of the picture; the whole box is the label. */
const style = `
.pictures > .option { position: relative; flex-flow: column; align-items: stretch; gap: var(--2); padding: var(--2); }
.pictures > .option > input { position: absolute; inset-block-start: var(--4); inset-inline-start: var(--4); box-shadow: 0 0 0 3px var(--paper); }
.pictures > .option > span:has(picture) { display: flex; flex-flow: column; gap: var(--2); }
.pictures picture { display: block; }
.pictures img { display: block; inline-size: 100%; block-size: auto; aspect-ratio: 4 / 3; object-fit: cover; border-radius: calc(.7 * var(--round)); background: var(--tint); }
.pictures > .option:not(:has(picture)) > span { padding-inline-start: 2.5rem; }
.pictures > .option:not(:has(picture)) > span:first-of-type { padding-block: var(--2) var(--1); }
.pictures > .option:has(:disabled) img { opacity: .5; }
.pictures > .option:has(:checked) { box-shadow: 0 0 0 2px var(--accent); border-color: var(--accent); }
.pictures > .option > .left { margin-inline-start: 0; text-align: start; }
.options_row.pictures > .option { inline-size: 8.5rem; }
`;

/** Radio buttons or checkboxes as labeled pictures. The labels also describe the pictures. */
export const renderPictureChoice = withStyles<'picture_choice'>([style], (element, place) => {
  const field = fieldAt(element, place);
  const values: readonly unknown[] = Array.isArray(field.value) ? field.value : [field.value];
  const list = listChoices(field, (option) => values.includes(option)).map(({ image, label, ...choice }) => ({
    ...choice,
    label:
      image === undefined
        ? label
        : html`${renderPicture(place.page.pictureOf(image), '', '12rem')}<b>${label}</b>`,
  }));
  const layout = `${optionsLayoutOf(element, 'grid_3')} pictures`;
  return renderChoices(field, element.attrs.multiple ? 'checkbox' : 'radio', list, { layout });
});
