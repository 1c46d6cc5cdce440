import type { Attempt, DeliveryLine } from '#webhooks/shapes.ts';

/** "2 of 6" while there may be more by themselves; else how many there were. */
export function sayAttempts({ attempts, status, is_test }: DeliveryLine, mostAttempts: number): string {
  return status === 'Retrying' && !is_test && attempts < mostAttempts
    ? `${attempts} of ${mostAttempts}`
    : String(attempts);
}

/** Why an attempt was made. */
export const triggerWords: Readonly<Record<Attempt['trigger'], string>> = {
  schedule: 'automatic',
  manual: 'by hand',
  test: 'a test',
  replay: 'by a replay',
};

/** What became of an attempt, in a few words. */
export function outcomeOf({ response_status, reason, request_headers }: Attempt): string {
  if (response_status !== null) return `Answered ${response_status}`;
  return request_headers === null && reason !== null ? 'Nothing was sent' : 'No answer';
}

/** Whether an attempt did what it was made for: only a success has no reason. */
export const hasArrived = ({ reason }: Pick<Attempt, 'reason'>): boolean => reason === null;

const grouped = new Intl.NumberFormat();
/** A time that was taken. */
export const sayMs = (ms: number | null): string => (ms === null ? '–' : `${grouped.format(ms)} ms`);

/** JSON with line breaks, for reading; what is no JSON stays as it is. */
export function layOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
