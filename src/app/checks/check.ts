/** What a look at one thing found. A remedy is one sentence that says what to do. */
export type Finding =
  | { state: 'ok'; what: string }
  /** It works, and somebody should know. */
  | { state: 'warning' | 'problem'; what: string; remedy: string };

/** One thing that can be wrong around the service. */
export type Check<Context> = {
  /** A word or two. */
  name: string;
  /** What is wrong for sure stops a start as well, since nothing would work behind it. */
  stopsStart: boolean;
  /** What it throws is a problem in its own words. */
  look: (context: Context) => Promise<Finding>;
};

/** Why a start would be of no use, with the remedy. */
export class CheckError extends Error {}

export const ok = (what: string): Finding => ({ state: 'ok', what });
export const warning = (what: string, remedy: string): Finding => ({ state: 'warning', what, remedy });
export const problem = (what: string, remedy: string): Finding => ({ state: 'problem', what, remedy });

/** @throws CheckError for the first of those that stop a start and find a problem, or what a look throws. */
export async function refuseProblems<Context>(
  checks: readonly Check<Context>[],
  context: Context,
): Promise<void> {
  for (const { stopsStart, look } of checks) {
    const finding = stopsStart ? await look(context) : ok('');
    if (finding.state === 'problem') throw new CheckError(`${finding.what} ${finding.remedy}`);
  }
}
