import { now } from '#kit/clock.ts';
import type { Server } from '#kit/http.ts';

const dayMs = 24 * 60 * 60 * 1_000;
/** RFC 9116 (2.5.5) wants less than a year: it is as fresh as the service that answers, so a month of being kept is enough. */
const keptMs = 30 * dayMs;

/** `/.well-known/security.txt` (RFC 9116): where whoever finds a hole in this service reports it. */
export function securityRoute(server: Server, of: { publicUrl: string; contact: string }): void {
  server.get('/.well-known/security.txt', async (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .send(
        [
          `Contact: ${of.contact}`,
          `Expires: ${new Date(now().getTime() + keptMs).toISOString()}`,
          `Canonical: ${of.publicUrl}/.well-known/security.txt`,
          '',
        ].join('\n'),
      ),
  );
}
