import type { EmailField } from '#kit/outbox.ts';

/** The result of one check. The remedy is one sentence that says what to do. */
export type Finding =
  | { state: 'ok'; what: string }
  | { state: 'warning' | 'problem'; what: string; remedy: string };

/** A current problem that a person has to fix. */
export type Incident = {
  /** Identifies the incident in all processes while it lasts. */
  key: string;
  /** The workspace whose owners get the email. Without one, the operator gets it. */
  workspaceId?: string;
  /** A single sentence, for the log and the email subject. */
  what: string;
  remedy: string;
  fields: EmailField[];
  url?: string;
};

/** A metric of `/metrics`: one value, or one for each set of labels. Undefined omits it. */
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

/** A possible fault in or around the service, and how `doctor`, `/readyz`, emails and metrics report it. */
export type Check<Facts> = {
  /** One or two words. */
  id: string;
  /** A `start` problem prevents the start; a `ready` problem makes `/readyz` respond with 503. */
  severity: 'start' | 'ready' | 'notice';
  /** Whether the check needs the tables of the current version. */
  needsSchema?: true;
  /** Returns the finding that `doctor` prints. A thrown error is reported as a problem. */
  look?: (facts: Facts) => Promise<Finding>;
  /** The subject of the email about a problem that `look` finds, and the label of the finding. */
  email?: { what: string; label: string };
  /** Returns the status that `/readyz` sends with 503, if there is a problem. */
  obstacle?: (facts: Facts) => Promise<string | undefined>;
  /** Returns the incidents to email, if one email about `look` is not enough. */
  incidents?: (facts: Facts) => Promise<Incident[]>;
  /** Returns the metrics that `/metrics` publishes. Values that cannot be read are omitted. */
  gauges?: (facts: Facts) => Promise<CheckGauge[]>;
};

/** An error that prevents the start. Its message includes the remedy. */
export class CheckError extends Error {}

export const createOkFinding = (what: string): Finding => ({ state: 'ok', what });
export const createWarningFinding = (what: string, remedy: string): Finding => ({
  state: 'warning',
  what,
  remedy,
});
export const createProblemFinding = (what: string, remedy: string): Finding => ({
  state: 'problem',
  what,
  remedy,
});

/**
 * Runs the `start` checks until one finds a problem.
 * @throws CheckError for that problem, and any error that a check throws.
 */
export async function requireNoProblems<Facts>(checks: readonly Check<Facts>[], facts: Facts): Promise<void> {
  for (const { severity, look } of checks) {
    const finding = severity === 'start' ? await look?.(facts) : undefined;
    if (finding?.state === 'problem') throw new CheckError(`${finding.what} ${finding.remedy}`);
  }
}
