/** People in one import, and characters of its text. */
export const importLimits = { people: 10_000, characters: 5_000_000 } as const;
