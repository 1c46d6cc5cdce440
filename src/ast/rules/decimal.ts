/** Whether the number is a whole number of steps away from the base, exact in decimals: 0.3 is three steps of 0.1. */
export function isOnStep(value: number, step: number, base: number): boolean {
  const numbers = [value, step, base].map(decimalOf);
  const scale = Math.min(...numbers.map(({ exponent }) => exponent));
  const [v = 0n, s = 1n, b = 0n] = numbers.map(
    ({ digits, exponent }) => digits * 10n ** BigInt(exponent - scale),
  );
  return (v - b) % s === 0n;
}

/** The number as it is written: digits times ten to the exponent. */
function decimalOf(number: number): { digits: bigint; exponent: number } {
  const [mantissa = '0', exponent = '0'] = number.toExponential().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
