/**
 * Whether a run covers only a slice of slow tests, as `npm test` does. Separate scripts run all of them
 * (CONTRIBUTING.md).
 */
export const isSlice = process.env['TEST_CASES'] !== 'full';

/**
 * Returns how many random cases a property is tried with: an eighth of `full` in `npm test`, all in `npm run
 * test:long -- properties`. A failing case prints its seed and path.
 */
export const cases = (full: number): number => (isSlice ? Math.ceil(full / 8) : full);

/**
 * Returns the variants of a screen to test: all in `npm run test:long -- screens`. In `npm test` it returns
 * one, a different one each turn, so that all are covered.
 */
export const looksAt = <Look>(turn: number, looks: readonly Look[]): readonly Look[] =>
  isSlice ? [looks[turn % looks.length]!] : looks;
