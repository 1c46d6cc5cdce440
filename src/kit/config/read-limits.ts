/** Reads a whole number of the environment, within bounds. */
export type ReadNumber = (name: string, fallback: number, least: number, most: number) => number;

const megabyte = 1024 * 1024;

/** What others may cause at most, as an operator set it or as usual; 0 is without a limit, but for `freeBytes`. */
export function readLimits(wholeNumber: ReadNumber) {
  const limit = (name: string, fallback: number): number => wholeNumber(name, fallback, 0, 1_000_000_000);
  return {
    /** Submits in a minute: from one address to all forms, to one form, and to the forms of one workspace. */
    submitsPerAddress: limit('SUBMITS_PER_ADDRESS', 600),
    submitsPerForm: limit('SUBMITS_PER_FORM', 6_000),
    submitsPerWorkspace: limit('SUBMITS_PER_WORKSPACE', 12_000),
    /** MB of files: from one address in a day, stored for one form, and for the forms of one workspace. */
    uploadMbPerAddress: limit('UPLOAD_MB_PER_ADDRESS', 2_000),
    uploadMbPerForm: limit('UPLOAD_MB_PER_FORM', 20_000),
    uploadMbPerWorkspace: limit('UPLOAD_MB_PER_WORKSPACE', 50_000),
    /** What stays free on the disk of the uploads: the largest one fits in, and what is written beside it. */
    freeBytes: wholeNumber('UPLOAD_FREE_MB', 512, 16, 1_000_000_000) * megabyte,
    /** People who are invited to forms in a day: by one person, and in one workspace. */
    invitationsPerPerson: limit('INVITATIONS_PER_PERSON', 20_000),
    invitationsPerWorkspace: limit('INVITATIONS_PER_WORKSPACE', 50_000),
    /** Requests of the console in a minute, for each person; an address may send four times as many. */
    consolePerMinute: limit('CONSOLE_PER_MINUTE', 600),
  };
}

export type Limits = ReturnType<typeof readLimits>;
