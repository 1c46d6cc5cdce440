import { sayCount } from '#ast/say-count.ts';

/**
 * What became of a request: the receiver's status, and how many seconds it asks us to wait; a failure on the way, which may go away by itself; or a refusal
 * of ours to send, which will not.
 */
export type SendResult =
  | { kind: 'answer'; status: number; retryAfter?: number | undefined }
  | { kind: 'failure'; reason: string }
  | { kind: 'refusal'; reason: string };

/** How a delivery goes on, and why, in words. `delay` is in seconds. */
type Verdict =
  | { status: 'Success'; reason: null }
  | { status: 'Retrying'; reason: string; delay: number }
  | { status: 'Failed'; reason: string };

type Consequence = 'succeed' | 'retry' | 'fail';

/** Specification, "Delivery and retry rules"; 3xx by docs/rules.md 2. The first line that holds; no line: fail. */
const rules: readonly { from: number; to: number; means: Consequence }[] = [
  { from: 200, to: 299, means: 'succeed' },
  { from: 300, to: 399, means: 'fail' },
  { from: 408, to: 408, means: 'retry' },
  { from: 429, to: 429, means: 'retry' },
  { from: 400, to: 499, means: 'fail' },
  { from: 500, to: 599, means: 'retry' },
];

/**
 * Decides after a request.
 * @param attempts requests made so far, this one included.
 * @param delays seconds to wait after the first failure, the second, ... Their number is the number of automatic
 * retries (docs/rules.md 1: 1 m, 5 m, 15 m, 1 h, 3 h, so six requests at most). None for a request that a person asked
 * for: it does not start the schedule again.
 * @param lastWords why there is no other attempt after the delays, for the log.
 */
export function judge(
  result: SendResult,
  attempts: number,
  delays: readonly number[],
  lastWords = 'No automatic retries are left.',
): Verdict {
  const consequence = consequenceOf(result);
  if (consequence === 'succeed') return { status: 'Success', reason: null };
  const what = result.kind === 'answer' ? `The receiver answered ${result.status}.` : result.reason;
  if (consequence === 'fail') return { status: 'Failed', reason: `${what} This is not retried.` };
  const delay = delays[attempts - 1];
  if (delay === undefined) return { status: 'Failed', reason: `${what} ${lastWords}` };
  const asked = result.kind === 'answer' ? (result.retryAfter ?? 0) : 0;
  if (asked > delay) {
    const reason = `${what} It asks for ${inWords(asked)}, after which is the next attempt.`;
    return { status: 'Retrying', reason, delay: asked };
  }
  return { status: 'Retrying', reason: `${what} The next attempt is in ${inWords(delay)}.`, delay };
}

function consequenceOf(result: SendResult): Consequence {
  if (result.kind === 'failure') return 'retry';
  if (result.kind === 'refusal') return 'fail';
  return rules.find(({ from, to }) => result.status >= from && result.status <= to)?.means ?? 'fail';
}

/** A number of seconds in the largest unit that divides it. */
function inWords(seconds: number): string {
  const units = { hour: 3_600, minute: 60, second: 1 } as const;
  const largest = (['hour', 'minute'] as const).find(
    (unit) => seconds >= units[unit] && seconds % units[unit] === 0,
  );
  const unit = largest ?? 'second';
  return sayCount(seconds / units[unit], unit);
}
