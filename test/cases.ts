/** Whether a run takes a slice of what is dear, as `npm test` does; all of it is run by a script of its own (CONTRIBUTING.md). */
export const isSlice = process.env['TEST_CASES'] !== 'full';

/**
 * How many random cases a property is tried with: an eighth of the full number in `npm test`, all of them in
 * `npm run test:long -- properties`. A case that fails prints its seed and path.
 */
export const cases = (full: number): number => (isSlice ? Math.ceil(full / 8) : full);

/**
 * The looks of a screen that a test goes through: one of them in `npm test`, the next one at each turn, so that each is
 * seen, and all of them in `npm run test:long -- screens`.
 */
export const looksAt = <Look>(turn: number, looks: readonly Look[]): readonly Look[] =>
  isSlice ? [looks[turn % looks.length]!] : looks;
