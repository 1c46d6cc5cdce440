import { attributes, html } from '../../markup/html.ts';
import { fieldAt, withStyles } from './element-context.ts';
import { controlAttributes, renderLabelledControl } from './frame.ts';
import { renderKeptFiles } from './upload.ts';

/** The pad stays white in dark mode, because the drawing is sent as it is shown. */
const style = `
.pad { display: none; margin-block-start: var(--2); }
@media (scripting: enabled) { .pad { display: block; } }
.pad, .pad ~ input { max-inline-size: 32rem; }
.pad:not(:has(canvas))::before, .pad canvas {
  content: ""; display: block; inline-size: 100%; aspect-ratio: 5 / 2; border: 1px solid var(--edge); border-radius: var(--round); touch-action: none; cursor: crosshair;
  background: linear-gradient(#aeb9b4, #aeb9b4) 50% 76% / 84% 1px no-repeat #fff; forced-color-adjust: none;
}
/* The minimum height reserves space for the buttons, which the script adds. */
.pad p { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--2); min-block-size: 2.75rem; margin-block-end: calc(-1 * var(--2)); }
.pad label { margin-inline-end: auto; }
.pad:not(.drawn) button { visibility: hidden; }
.pad.drawn + .held > li:not(:has(.error)) { display: none; }
.invalid > .pad canvas { border-color: var(--bad); }
`;

/** A text field for a name, which counts as the signature. The script adds a pad to draw one. */
export const renderSignature = withStyles<'signature'>([style], (element, place) => {
  const field = fieldAt(element, place);
  const { signDraw, signType, signName, signUndo, clear } = place.page.words;
  const pad = attributes({ class: 'pad', 'data-help': signDraw, 'data-undo': signUndo, 'data-clear': clear });
  const control = attributes({
    type: 'text',
    ...controlAttributes(field),
    value: typeof field.value === 'string' ? field.value : '',
    autocomplete: place.row ? undefined : 'name',
    spellcheck: 'false',
  });
  return renderLabelledControl(
    field,
    html`<div${pad}><p><label${attributes({ for: field.name })}>${signName}</label></p></div>${renderKeptFiles(field)}<input${control}>`,
    [signType],
  );
});
