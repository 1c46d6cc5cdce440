import { hashBehind } from './sha256.ts';

/** How long the page may stand still, in ms: a press or a letter is answered within it. */
const turnMs = 40;

/**
 * The first number that, behind the challenge and a colon, makes a SHA-256 of that many leading zero bits: about
 * `2 ** bits` tries. The server needs one (src/page/screening.ts).
 */
export async function solve(challenge: string, bits: number): Promise<string> {
  const hash = hashBehind(`${challenge}:`);
  let until = performance.now() + turnMs;
  for (let tried = 0; ; tried += 1) {
    if (Math.clz32(hash(String(tried))[0]!) >= bits) return String(tried);
    if (tried % 64 === 0 && performance.now() > until) {
      await new Promise((resolve) => setTimeout(resolve));
      until = performance.now() + turnMs;
    }
  }
}
