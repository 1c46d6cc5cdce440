import type { Due, RetentionKind, RetentionRule } from './retention-query.ts';
import { sayCount } from '#ast/say-count.ts';

export const kindWords = {
  submissions: 'Submissions',
  incomplete: 'Begun and never completed',
  files: 'Uploaded files',
  mails: 'Log of mails',
  deliveries: 'Webhook deliveries',
  trash: 'Trash',
} as const satisfies Record<RetentionKind, string>;

const sources = {
  form: 'this form says so',
  workspace: 'the workspace says so',
  default: 'unless you say otherwise',
  operator: 'the service says so',
} as const satisfies Record<RetentionRule['said_by'], string>;

export const saySource = ({ said_by }: RetentionRule): string => sources[said_by];

export const sayDays = (days: RetentionRule['days']): string =>
  days === 'forever' ? 'Until deleted' : sayCount(days, 'day');

const most = 10_000;
export const sayAmount = (amount: number): string =>
  amount > most ? `more than ${most.toLocaleString()}` : amount.toLocaleString();

/** What a rule takes away soon, in a sentence. */
export function sayDue({ due_now, due_in_7_days, due_in_30_days }: Due): string {
  if (due_in_30_days === 0) return 'Nothing goes within 30 days.';
  const week = due_in_7_days === 0 ? '' : `${sayAmount(due_in_7_days)} within a week, `;
  const soon = `${week}${sayAmount(due_in_30_days)} within 30 days.`;
  return due_now === 0 ? soon : `${sayAmount(due_now)} within minutes, for good; ${soon}`;
}
