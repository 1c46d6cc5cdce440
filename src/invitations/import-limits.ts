/** The most people in one import, and the most characters in its text. */
export const importLimits = { people: 10_000, characters: 5_000_000 } as const;
