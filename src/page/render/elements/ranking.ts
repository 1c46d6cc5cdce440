import { fillTemplate } from '#ast/basics/words.ts';
import { optionsOf } from '#ast/form/tree.ts';
import { attributes, type Html, html } from '../../markup/html.ts';
import { fieldAt, withStyles } from './element-context.ts';
import { renderControlGroup } from './frame.ts';
import { formatMove, moveControl, type RankingMove, shownOrder } from './ranking-moves.ts';

/** The numbers are outlines until the visitor has ranked the options. */
const style = `
.ranks { list-style: none; padding: 0; counter-reset: rank; }
.ranks > .option { counter-increment: rank; gap: var(--2); padding: 0; padding-inline-start: var(--3); background: var(--paper); cursor: default; }
.ranks > .option > span { flex: 1; min-inline-size: 0; padding-block: var(--2); }
.ranks > .option::before { content: counter(rank); flex: none; inline-size: 1.75rem; border: 1px solid var(--accent); border-radius: 50%; background: var(--accent); color: var(--on-accent); font-size: .9375rem; font-weight: 600; line-height: 1.625rem; text-align: center; font-variant-numeric: tabular-nums; }
.ranks:has(input[value=""]) > .option::before { background: none; border-color: var(--edge); color: var(--soft); }
.ranks > .option::after { content: none !important; }
.ranks button { flex: none; inline-size: 2.75rem; padding: 0; background: none; border: 0; color: var(--soft); }
.ranks button:hover { color: var(--ink); }
.ranks svg { display: block; margin: auto; inline-size: 1.25rem; fill: none; stroke: currentcolor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.ranks > :first-child > button:first-of-type svg, .ranks > :last-child > button:last-of-type svg { opacity: .3; }
.ranks > .option > svg { display: none; flex: none; inline-size: 2.75rem; block-size: 2.75rem; margin: 0; margin-inline: -.75rem -.5rem; padding: .75rem; color: var(--soft); touch-action: none; }
.ranks:has(input[value=""]) ~ .clears, .ranks:not(:has(input[value=""])) ~ .uses { display: none; }
.ranks ~ button { padding-inline: 0; }
@media (scripting: enabled) {
  .ranks > .option { cursor: grab; user-select: none; -webkit-user-select: none; }
  .ranks > .option > svg { display: block; }
}
.ranks > .dragged { position: relative; z-index: 1; box-shadow: 0 .25rem 1rem #0004; cursor: grabbing; }
@media print { .ranks > .option > svg { display: none; } }
`;

const icon = (path: string): Html =>
  html`<svg viewbox="0 0 20 20" aria-hidden="true"><path d="${path}"></path></svg>`;
const grip = icon('M7.5 5v.01M12.5 5v.01M7.5 10v.01M12.5 10v.01M7.5 15v.01M12.5 15v.01');
const icons = { up: icon('M5 12l5-5 5 5'), down: icon('M5 8l5 5 5-5') } as const;

/**
 * The options as a list with buttons to move each. Every option has a hidden control, so that the order of
 * the list is the answer; the controls are empty until the visitor has ranked the options. With the script,
 * the options can also be dragged (web/page/types/ranking.ts).
 */
export const renderRanking = withStyles<'ranking'>([style], (element, place) => {
  const field = fieldAt(element, place);
  const { name } = field;
  const { page } = place;
  const { words } = page;
  const options = optionsOf(element);
  const labels = new Map(options.map(({ id, label }) => [id, label]));
  const given: readonly unknown[] = Array.isArray(field.value) ? field.value : [];
  const isRanked = options.every(({ id }) => given.includes(id));
  const button = (move: Omit<RankingMove, 'field'>, content: Html, more: object = {}): Html => {
    const value = formatMove({ ...move, field: name });
    const isFirst = move.to === 'up' && move.index === 0;
    const control = attributes({
      name: moveControl,
      value,
      id: isFirst && name,
      autofocus: page.focus === value || (isFirst && field.hasFocus),
      ...more,
    });
    return html`<button${control}>${content}</button>`;
  };
  const items = shownOrder([...labels.keys()], given).map((id, index) => {
    const label = labels.get(id)!;
    const control = attributes({ type: 'hidden', name, value: isRanked ? id : '' });
    const step = (to: 'up' | 'down', text: string): Html =>
      button(
        { to, index },
        html`<span class="unseen">${fillTemplate(text, { option: label })}</span>${icons[to]}`,
      );
    return html`<li class="option"${attributes({ 'data-option': id })}><input${control}>${grip}<span>${label}</span>${step('up', words.moveUp)}${step('down', words.moveDown)}</li>`;
  });
  const use = button({ to: 'use', index: 0 }, html`${words.useOrder}`, { class: 'quiet uses' });
  const clear = button({ to: 'clear', index: 0 }, html`${words.clear}`, { class: 'quiet clears' });
  return renderControlGroup(
    field,
    'checkbox',
    html`<ol class="options ranks" role="list"${attributes({ 'data-ranked': words.ranked })}>
${items}
</ol>
${use}${clear}`,
  );
});
