import type { PlanName } from '#kit/config.ts';

/** What a plan gives a workspace: the requests that pass in a minute, and whether its webhooks may be signed. */
type PlanTerms = {
  /** X-RateLimit-Limit. */
  readonly perMinute: number;
  /** How many requests of a minute may pass beyond `perMinute`. */
  readonly burst: number;
  /** Whether a webhook may have a secret, and so the signature header. */
  readonly signedWebhooks: boolean;
};

/**
 * The four tiers. Specification, "API rate limits" and "Webhook signature".
 * Enterprise is "custom" there: its numbers here hold until a workspace is given numbers of its own.
 */
export const plans = {
  free: { perMinute: 60, burst: 10, signedWebhooks: false },
  pro: { perMinute: 300, burst: 30, signedWebhooks: true },
  business: { perMinute: 1_000, burst: 100, signedWebhooks: true },
  enterprise: { perMinute: 5_000, burst: 500, signedWebhooks: true },
} as const satisfies Record<PlanName, PlanTerms>;

export type Plan = PlanName;

/** The plan's numbers, or the workspace's own where the operator has set one (columns rate_limit and burst). */
export function rateOf(
  plan: Plan,
  own: { rateLimit: number | null; burst: number | null },
): { perMinute: number; burst: number } {
  return { perMinute: own.rateLimit ?? plans[plan].perMinute, burst: own.burst ?? plans[plan].burst };
}
