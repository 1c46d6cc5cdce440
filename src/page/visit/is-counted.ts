import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '#ast/settings.ts';

/** What calls itself so is a machine that reads a page: for a search engine, for the preview of a link, to watch it. */
const machines =
  /(?<!cu)bot\b|crawl|spider|slurp|preview|compatible;|facebookexternalhit|headless|lighthouse|monitor|uptime|http/i;

/** Whether the form counts visits, and this one does not ask to be left out (Global Privacy Control, Do Not Track). */
export const mayCount = ({ analytics }: Settings, headers: IncomingHttpHeaders): boolean =>
  analytics !== false && headers['sec-gpc'] !== '1' && headers.dnt !== '1';

/**
 * Whether a visit is counted: one that may be, by a browser that a person looks into. A page that is fetched ahead may
 * never be looked at.
 */
export function isCounted(settings: Settings, headers: IncomingHttpHeaders): boolean {
  if (!mayCount(settings, headers)) return false;
  const purpose = headers['sec-purpose'] ?? headers['purpose'] ?? headers['x-moz'];
  if (purpose !== undefined) return false;
  const agent = headers['user-agent'] ?? '';
  return agent.startsWith('Mozilla/') && !machines.test(agent);
}
