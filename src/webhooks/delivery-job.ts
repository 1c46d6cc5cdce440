/** The kind of the jobs that send. A delivery's job has the delivery's id, so there is one at most. */
export const deliverJob = 'webhook.deliver';

/** What makes a request: the schedule, a person who retries a failed delivery or sends a test, or a replay. */
export const triggers = ['schedule', 'manual', 'test', 'replay'] as const;
export type Trigger = (typeof triggers)[number];

export type DeliverJobPayload = { trigger: Trigger };

/** Deliveries of one webhook share a lane: a receiver that hangs holds up nobody else's. */
export const laneOf = (webhookId: string): string => `webhook:${webhookId}`;
