/**
 * How many random cases a property is tried with: a quarter of the full number in `npm test`, all of them in
 * `npm run test:properties`. A case that fails prints its seed and path.
 */
export const cases = (full: number): number =>
  process.env['TEST_CASES'] === 'full' ? full : Math.ceil(full / 4);
