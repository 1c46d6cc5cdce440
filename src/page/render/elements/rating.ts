import { defaults } from '#ast/basics/defaults.ts';
import { fieldAt } from './element-context.ts';
import { levelStyle, levels } from './levels.ts';
import { styled } from './styled.ts';

/**
 * Stars and hearts are characters, filled up to the chosen or hovered one. Filled and empty ones differ in
 * shape, so they do not depend on color.
 */
const starStyle = `
:is(.options_stars, .options_hearts) { grid-template-columns: repeat(5, minmax(0, 3rem)); gap: 0; }
:is(.options_stars, .options_hearts):has(> .option:not(.none):nth-child(6)) { grid-template-columns: repeat(var(--levels), minmax(0, 3rem)); }
:is(.options_stars, .options_hearts) > .option:not(.none) { border: 0; background: none; box-shadow: none; color: var(--edge); }
:is(.options_stars, .options_hearts) > .option:not(.none) > span { font-size: 0; }
:is(.options_stars, .options_hearts) > .option:not(.none) > span::before { content: "☆"; content: "☆" / ""; font: 2rem/1 "Segoe UI Symbol", "Apple Symbols", "Noto Sans Symbols 2", "DejaVu Sans", sans-serif; }
.options_hearts > .option:not(.none) > span::before { content: "♡"; content: "♡" / ""; }
:is(.options_stars, .options_hearts) > .option:not(.none):is(:has(:checked), :has(~ .option :checked:not([value=""]))) { color: var(--accent); }
.options_stars > .option:not(.none):is(:has(:checked), :has(~ .option :checked:not([value=""]))) > span::before { content: "★"; content: "★" / ""; }
.options_hearts > .option:not(.none):is(:has(:checked), :has(~ .option :checked:not([value=""]))) > span::before { content: "♥"; content: "♥" / ""; }
.invalid > :is(.options_stars, .options_hearts) > .option { color: var(--bad); }
@media (hover: hover) {
  :is(.options_stars, .options_hearts) > .option:not(.none):is(:hover, :has(~ .option:not(.none):hover)) { color: var(--deep); }
}
`;

/** Stars, hearts or numbers, of which the visitor chooses one. */
export const rating = styled<'rating'>([levelStyle, starStyle], (element, place) => {
  const { symbol = defaults.symbol } = element.attrs;
  return levels(fieldAt(element, place), symbol === 'numbers' ? 'levels' : symbol, element.attrs);
});
