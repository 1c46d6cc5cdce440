/**
 * The kind of the jobs that send deliveries. A job has the id of its delivery, so each delivery has at most
 * one.
 */
export const deliverJobKind = 'webhook.deliver';

/**
 * What triggers a request: the schedule, a person who retries a failed delivery or sends a test, or a replay.
 */
export const triggers = ['schedule', 'manual', 'test', 'replay'] as const;
export type Trigger = (typeof triggers)[number];

export type DeliverJobPayload = { trigger: Trigger };

/** Deliveries of one webhook share a lane, so that a receiver that hangs delays no other webhook. */
export const laneOf = (webhookId: string): string => `webhook:${webhookId}`;
