import { openFileLinks } from '#files/link.ts';
import { openLiveForms } from '#forms/live-form.ts';
import { now } from '#kit/clock.ts';
import { closeInOrder } from '#kit/close-in-order.ts';
import type { Config } from '#kit/config.ts';
import type { Server } from '#kit/http.ts';
import { openStorage } from '#kit/open-storage.ts';
import { openHeldFiles } from '#page/post/held-files.ts';
import { openFeedBell } from '#webhooks/feed/feed-bell.ts';
import { startBackground } from './background.ts';
import { startBesideBackground } from './processes/beside-background.ts';
import { buildServer } from './server.ts';
import type { Services } from './services.ts';

/** What a process is made of, from its configuration to the order in which it ends. */
export type Run = { config: Config; parts: AsyncDisposableStack; state: { isStopping: boolean } };

/** What has begun at a stop has so long to finish. */
const drainMs = 7_000;

/**
 * The services of this process, its server, which does not listen yet, and its work without requests; their end is put
 * on the run's parts. main.ts loads this only where it is needed: the primary of several processes stays small.
 */
export async function assemble(
  { config, parts, state }: Run,
  {
    log,
    database,
    vault,
    requestCounter,
    metrics,
    isBackgroundElsewhere,
  }: Pick<Services, 'log' | 'database' | 'vault' | 'requestCounter' | 'metrics'> & {
    /** Whether another process of the instance does the background work. */
    isBackgroundElsewhere: boolean;
  },
): Promise<Server> {
  const services = {
    config,
    log,
    database,
    vault,
    requestCounter,
    metrics,
    storage: openStorage(config),
    links: openFileLinks({ vault, publicUrl: config.publicUrl, now }),
    liveForms: openLiveForms(database),
    heldFiles: openHeldFiles({ database, vault }),
    feedBell: openFeedBell({ database, log }),
  };
  const background = isBackgroundElsewhere ? startBesideBackground(services) : startBackground(services);
  parts.defer(() => background.stop(drainMs));
  parts.defer(() => services.feedBell.close());
  const server = await buildServer(
    { ...services, wakeQueue: background.wakeQueue },
    { isStopping: () => state.isStopping },
  );
  const close = closeInOrder(server);
  parts.defer(async () => {
    services.feedBell.close();
    await Promise.all([close(drainMs), background.stop(drainMs)]);
  });
  return server;
}
