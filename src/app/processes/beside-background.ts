import { newId } from '#kit/clock.ts';
import { openAnnouncer } from '#kit/queue/announcer.ts';
import type { Background } from '../background.ts';
import { hearRevokedKeys } from '../hear-revoked-keys.ts';
import type { Services } from '../services.ts';

/**
 * What a process has that leaves the background work to another one of its instance: one queue's lanes and one
 * housekeeping hold for all of them (docs/decisions/0022). That one hears of new jobs as other machines do.
 * @param first as startBackground has it.
 */
export function startBesideBackground(
  services: Pick<Services, 'database' | 'log'>,
  first?: Background,
): Background {
  const keys = first ? undefined : hearRevokedKeys(services);
  const announcer = openAnnouncer(services, newId());
  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await Promise.all([announcer.stop(), keys?.stop()]);
  };
  return {
    wakeQueue: () => announcer.announce(),
    mail: { problem: undefined },
    stop: () => (ended ??= end()),
  };
}
