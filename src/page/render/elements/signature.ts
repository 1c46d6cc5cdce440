import { attributes, html } from '../../markup/html.ts';
import { controlAttributes, labelled } from './frame.ts';
import { fieldAt } from './place.ts';
import { styled } from './styled.ts';
import { heldList } from './upload.ts';

/** The pad is paper in the dark too: what is drawn is sent as it looks. */
const style = `
.pad { display: none; margin-block-start: var(--2); }
@media (scripting: enabled) { .pad { display: block; } }
.pad, .pad ~ input { max-inline-size: 32rem; }
.pad:not(:has(canvas))::before, .pad canvas {
  content: ""; display: block; inline-size: 100%; aspect-ratio: 5 / 2; border: 1px solid var(--edge); border-radius: var(--round); touch-action: none; cursor: crosshair;
  background: linear-gradient(#aeb9b4, #aeb9b4) 50% 76% / 84% 1px no-repeat #fff; forced-color-adjust: none;
}
/* With room for the buttons, which come with the script. */
.pad p { display: flex; flex-wrap: wrap; align-items: center; gap: 0 var(--2); min-block-size: 2.75rem; margin-block-end: calc(-1 * var(--2)); }
.pad label { margin-inline-end: auto; }
.pad:not(.drawn) button { visibility: hidden; }
.pad button { min-block-size: 2.75rem; padding: var(--2); background: none; border: 0; color: var(--soft); font-weight: 400; text-decoration: underline; text-underline-offset: .2em; }
.pad button:hover { color: var(--ink); }
.pad.drawn + .held > li:not(:has(.error)) { display: none; }
.invalid > .pad canvas { border-color: var(--bad); }
`;

/** A field for a name, which is the signature of whoever types it; the script draws beside it what a pointer draws. */
export const signature = styled<'signature'>([style], (element, place) => {
  const field = fieldAt(element, place);
  const { signDraw, signType, signName, signUndo, signClear } = place.page.words;
  const pad = attributes({
    class: 'pad',
    'data-help': signDraw,
    'data-undo': signUndo,
    'data-clear': signClear,
  });
  const control = attributes({
    type: 'text',
    ...controlAttributes(field),
    value: typeof field.value === 'string' ? field.value : '',
    autocomplete: place.row ? undefined : 'name',
    spellcheck: 'false',
  });
  return labelled(
    field,
    html`<div${pad}><p><label${attributes({ for: field.name })}>${signName}</label></p></div>${heldList(field)}<input${control}>`,
    [signType],
  );
});
