/**
 * Returns the first 32 bits of the fractional parts of the roots of the first primes, which are the constants
 * of SHA-256 (FIPS 180-4).
 */
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
const constants = Int32Array.from(fractions(64, 3));
const rotateRight = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

const schedule = new Int32Array(64);

/** Mixes 16 words (512 bits) into the state. */
function mix(state: Int32Array, words: Int32Array, from: number): void {
  for (let index = 0; index < 16; index += 1) schedule[index] = words[from + index]!;
  for (let index = 16; index < 64; index += 1) {
    const early = schedule[index - 15]!;
    const late = schedule[index - 2]!;
    const first = rotateRight(early, 7) ^ rotateRight(early, 18) ^ (early >>> 3);
    const second = rotateRight(late, 17) ^ rotateRight(late, 19) ^ (late >>> 10);
    schedule[index] = (schedule[index - 16]! + first + schedule[index - 7]! + second) | 0;
  }
  const [ofA, ofB, ofC, ofD, ofE, ofF, ofG, ofH] = state as unknown as Eight;
  let [a, b, c, d, e, f, g, h] = [ofA, ofB, ofC, ofD, ofE, ofF, ofG, ofH];
  for (let index = 0; index < 64; index += 1) {
    const sum = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
    const first = (h + sum + ((e & f) ^ (~e & g)) + constants[index]! + schedule[index]!) | 0;
    const second =
      ((rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  state.set([ofA + a, ofB + b, ofC + c, ofD + d, ofE + e, ofF + f, ofG + g, ofH + h]);
}
type Eight = [number, number, number, number, number, number, number, number];

/**
 * Returns a SHA-256 function for UTF-8 texts that share a beginning, followed by up to 56 ASCII characters.
 * The result has eight words, which the next call overwrites. The whole blocks of the beginning are hashed
 * only once. The browser's own function returns a promise, which costs more than hashing a short text, and is
 * missing on pages without TLS.
 */
export function createPrefixHasher(beginning: string): (end: string) => Uint32Array {
  const bytes = new TextEncoder().encode(beginning);
  const begun = Int32Array.from(start);
  const whole = bytes.length - (bytes.length % 64);
  const rest = new Int32Array(16);
  const read = new Int32Array((bytes.length >> 2) + 1);
  for (const [index, byte] of bytes.entries()) read[index >> 2]! |= byte << (24 - (index & 3) * 8);
  for (let from = 0; from < whole / 4; from += 16) mix(begun, read, from);
  rest.set(read.subarray(whole / 4));

  const state = new Int32Array(8);
  const words = new Int32Array(32);
  return (end) => {
    const length = bytes.length - whole + end.length;
    words.fill(0);
    words.set(rest);
    // The padding: a single 1 bit, zeros, and the number of bits.
    for (let index = 0; index <= end.length; index += 1) {
      const place = bytes.length - whole + index;
      words[place >> 2]! |= (index < end.length ? end.charCodeAt(index) : 0x80) << (24 - (place & 3) * 8);
    }
    const blocks = ((length + 8) >> 6) + 1;
    words[blocks * 16 - 1] = (whole + length) * 8;
    state.set(begun);
    for (let block = 0; block < blocks; block += 1) mix(state, words, block * 16);
    return new Uint32Array(state.buffer);
  };
}

/** How long the page may block, in ms: clicks and keys are handled within this time. */
const yieldMs = 40;

/**
 * Finds the first number that gives a SHA-256 with `bits` leading zero bits when it is appended to the
 * challenge and a colon. This takes about `2 ** bits` attempts. The server requires such a number
 * (src/page/visit/screening.ts).
 */
export async function solveProof(challenge: string, bits: number): Promise<string> {
  const hash = createPrefixHasher(`${challenge}:`);
  let until = performance.now() + yieldMs;
  for (let tried = 0; ; tried += 1) {
    if (Math.clz32(hash(String(tried))[0]!) >= bits) return String(tried);
    if (tried % 64 === 0 && performance.now() > until) {
      await new Promise((resolve) => setTimeout(resolve));
      until = performance.now() + yieldMs;
    }
  }
}
