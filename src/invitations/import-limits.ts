/** The maximum number of people in one import, and of characters in its text. */
export const invitationImportLimits = { people: 10_000, characters: 5_000_000 } as const;
