import type { autofillTokens } from '#ast/attributes/autofill-tokens.ts';
import type { ElementType } from '#ast/elements.ts';

type Part = {
  readonly id: string;
  readonly label: string;
  readonly autocomplete: (typeof autofillTokens)[number];
  readonly required?: true;
  /** Of the two columns of the group. */
  readonly columns?: 2;
};

/** Groups of questions that every second form asks, with what browsers fill in for each part (WCAG 2.2, 1.3.5). */
export const readyGroups = {
  full_name: {
    title: 'Name',
    words: 'person first last given family full who',
    icon: 'M10 3.500a3 3 0 1 1 0 6 3 3 0 0 1 0-6M4 16.500c.4-3.2 2.8-4.8 6-4.800s5.6 1.6 6 4.8',
    parts: [
      { id: 'given_name', label: 'First name', autocomplete: 'given-name', required: true },
      { id: 'family_name', label: 'Last name', autocomplete: 'family-name', required: true },
    ],
  },
  address: {
    title: 'Address',
    words: 'street city town zip postal code country region state postcode delivery billing',
    icon: 'M10 17s5.5-5 5.5-9a5.5 5.5 0 0 0-11 0c0 4 5.5 9 5.5 9M10 6.200a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6',
    parts: [
      { id: 'street', label: 'Street and number', autocomplete: 'address-line1', required: true, columns: 2 },
      { id: 'street_more', label: 'Apartment, building or floor', autocomplete: 'address-line2', columns: 2 },
      { id: 'postal_code', label: 'Postal code', autocomplete: 'postal-code' },
      { id: 'city', label: 'City', autocomplete: 'address-level2', required: true },
      { id: 'region', label: 'State or region', autocomplete: 'address-level1' },
      { id: 'country', label: 'Country', autocomplete: 'country-name', required: true },
    ],
  },
} as const satisfies Readonly<
  Record<string, { title: string; words: string; icon: string; parts: readonly Part[] }>
>;

export type ReadyGroup = keyof typeof readyGroups;

/** What the palette offers: an element of a type, or such a group. */
export type PaletteEntry = ElementType | ReadyGroup;

export const isReadyGroup = (entry: PaletteEntry): entry is ReadyGroup => Object.hasOwn(readyGroups, entry);

/** The parts of a group, each as a question. */
export const partsOf = (group: ReadyGroup): readonly Part[] => readyGroups[group].parts;
