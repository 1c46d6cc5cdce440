/** The first 32 bits of the fractional parts of the roots of the first primes, which SHA-256 is made of (FIPS 180-4). */
function fractions(count: number, root: number): Uint32Array {
  const values: number[] = [];
  for (let candidate = 2; values.length < count; candidate += 1) {
    let divisor = 2;
    while (divisor * divisor <= candidate && candidate % divisor > 0) divisor += 1;
    if (divisor * divisor > candidate) values.push((candidate ** (1 / root) % 1) * 2 ** 32);
  }
  return Uint32Array.from(values);
}

const start = fractions(8, 2);
const constants = fractions(64, 3);
const turn = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** The bytes as 512-bit blocks: a one behind them, zeros, and their number of bits at the end. */
function pad(bytes: Uint8Array): Uint32Array {
  const padded = new Uint32Array(((bytes.length + 8) >> 6) * 16 + 16);
  for (const [index, byte] of [...bytes, 0x80].entries())
    padded[index >> 2]! |= byte << (24 - (index & 3) * 8);
  padded[padded.length - 1] = bytes.length * 8;
  return padded;
}

/**
 * SHA-256 of a text in UTF-8, as eight words. The browser's own answers a promise, which costs more than a short
 * text does, and is not there on a page without TLS.
 */
export function sha256(text: string): Uint32Array {
  const words = pad(new TextEncoder().encode(text));
  const state = start.slice();
  const schedule = new Uint32Array(64);
  for (let block = 0; block < words.length; block += 16) {
    schedule.set(words.subarray(block, block + 16));
    for (let index = 16; index < 64; index += 1) {
      const early = schedule[index - 15]!;
      const late = schedule[index - 2]!;
      const first = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
      const second = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
      schedule[index] = schedule[index - 16]! + first + schedule[index - 7]! + second;
    }
    mix(state, schedule);
  }
  return state;
}

function mix(state: Uint32Array, schedule: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = state as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (let index = 0; index < 64; index += 1) {
    const sum = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const first = (h + sum + ((e & f) ^ (~e & g)) + constants[index]! + schedule[index]!) | 0;
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index]! += word;
}
