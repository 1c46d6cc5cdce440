import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '#ast/settings.ts';

/** User agents of programs such as search engines, link previews and monitoring. */
const machines =
  /(?<!cu)bot\b|crawl|spider|slurp|preview|compatible;|facebookexternalhit|headless|lighthouse|monitor|uptime|http/i;

/**
 * Whether the form counts visits and the visitor has not opted out (Global Privacy Control, Do Not Track).
 */
export const mayCountVisits = ({ analytics }: Settings, headers: IncomingHttpHeaders): boolean =>
  analytics !== false && headers['sec-gpc'] !== '1' && headers.dnt !== '1';

/**
 * Whether a visit is counted: counting must be allowed, and the request must come from a person's browser. A
 * prefetched page does not count, because it may never be seen.
 */
export function isVisitCounted(settings: Settings, headers: IncomingHttpHeaders): boolean {
  if (!mayCountVisits(settings, headers)) return false;
  const purpose = headers['sec-purpose'] ?? headers['purpose'] ?? headers['x-moz'];
  if (purpose !== undefined) return false;
  const agent = headers['user-agent'] ?? '';
  return agent.startsWith('Mozilla/') && !machines.test(agent);
}
