import type { LetterField } from '#kit/outbox.ts';

/** What a look at one thing found. The remedy is one sentence that says what to do. */
export type Finding =
  | { state: 'ok'; what: string }
  | { state: 'warning' | 'problem'; what: string; remedy: string };

/** Something that is wrong now and that a person has to repair. */
export type Incident = {
  /** Names it across all processes for as long as it lasts. */
  key: string;
  /** The workspace whose owners get the email; without it the operator gets it. */
  workspaceId?: string;
  /** One sentence, for the log and the subject of the email. */
  what: string;
  remedy: string;
  fields: LetterField[];
  url?: string;
};

/** A number of `/metrics`, or one for each set of labels; undefined: it is absent here. */
export type CheckGauge = readonly [
  name: string,
  help: string,
  value:
    | number
    | boolean
    | undefined
    | readonly { labels: Readonly<Record<string, string>>; value: number }[],
  type?: 'counter',
];

/** One thing that can be wrong in or around the service, and what each of its readers says about it. */
export type Check<Facts> = {
  /** One or two words. */
  id: string;
  /** A problem of `start` stops a start; one of `ready` makes `/readyz` answer 503. */
  severity: 'start' | 'ready' | 'notice';
  /** Whether it can be asked only of a database that has the tables of this version. */
  needsSchema?: true;
  /** `doctor` prints what this finds. An error that it throws is a problem of its own. */
  look?: (facts: Facts) => Promise<Finding>;
  /** The subject of the email about a problem that `look` finds, and the label of what it found. */
  email?: { what: string; label: string };
  /** Returns the status that `/readyz` answers with 503. */
  obstacle?: (facts: Facts) => Promise<string | undefined>;
  /** What the watch emails where one email about `look` does not do. */
  incidents?: (facts: Facts) => Promise<Incident[]>;
  /** `/metrics` publishes these. What cannot be read is in no number. */
  gauges?: (facts: Facts) => Promise<CheckGauge[]>;
};

/** Stops a start. The message includes the remedy. */
export class CheckError extends Error {}

export const ok = (what: string): Finding => ({ state: 'ok', what });
export const warning = (what: string, remedy: string): Finding => ({ state: 'warning', what, remedy });
export const problem = (what: string, remedy: string): Finding => ({ state: 'problem', what, remedy });

/** @throws CheckError for the first problem that stops a start; also what a check throws. */
export async function refuseProblems<Facts>(checks: readonly Check<Facts>[], facts: Facts): Promise<void> {
  for (const { severity, look } of checks) {
    const finding = severity === 'start' ? await look?.(facts) : undefined;
    if (finding?.state === 'problem') throw new CheckError(`${finding.what} ${finding.remedy}`);
  }
}
