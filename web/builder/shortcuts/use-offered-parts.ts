import { type Offer, useOffers } from '../../shell/finder/offers.ts';
import { sayPress } from '../../shell/press.ts';
import { sayNodes } from '../model/compare.ts';
import { offeredFor } from './deeds.ts';
import { useOnParts } from './on-parts.ts';

/** Has the finder (Ctrl+K) offer what can be done to the parts that are selected, as their menu does. */
export function useOfferedParts(): void {
  const on = useOnParts();
  useOffers(() => {
    const meant = on();
    if (meant.parts.length === 0) return { title: '', offers: [] };
    const offers = offeredFor(meant).flatMap(
      ([name, { label, icon = 'edit', presses, perform, choices }]): Offer[] =>
        choices
          ? choices(meant).map((choice) => ({
              id: `${name} ${choice.id}`,
              label: `${label}: ${choice.label}`,
              icon,
              run: choice.perform,
            }))
          : [
              {
                id: name,
                label,
                icon,
                ...(presses[0] !== undefined && { description: sayPress(presses[0]) }),
                run: () => perform(meant),
              },
            ],
    );
    return { title: `With ${sayNodes(meant.parts)}`, offers };
  });
}
