import packageJson from '../../package.json' with { type: 'json' };
import type { EventKind } from './event.ts';

const userAgent = `Formloom-Webhooks/${packageJson.version}`;

/**
 * Specification, "Request headers". The signature's header is there only when a secret is set (DESIGN 4.3).
 */
export const deliveryHeaders = (delivery: {
  kind: EventKind;
  deliveryId: string;
  signature: string | undefined;
}): Record<string, string> => ({
  'Content-Type': 'application/json',
  'User-Agent': userAgent,
  'X-Service-Event': delivery.kind,
  'X-Service-Delivery-ID': delivery.deliveryId,
  ...(delivery.signature !== undefined && { 'X-Service-Signature': delivery.signature }),
});
