import { closeInOrder } from '#kit/concurrency.ts';
import type { Config } from '#kit/config.ts';
import type { Server } from '#kit/http.ts';
import { startBackground } from './background.ts';
import { serveCells } from './cells.ts';
import { openServices } from './open-services.ts';
import { startBesideBackground } from './processes.ts';
import { buildServer } from './server.ts';
import type { Ground } from './services.ts';

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
    isBackgroundElsewhere,
    ...ground
  }: Omit<Ground, 'config'> & {
    /** Whether another process of the instance does the background work. */
    isBackgroundElsewhere: boolean;
  },
): Promise<Server> {
  const services = openServices({ config, ...ground });
  const background = isBackgroundElsewhere ? startBesideBackground(services) : startBackground(services);
  parts.defer(() => background.stop(drainMs));
  parts.defer(() => services.feedBell.close());
  const server = await buildServer(
    { ...services, wakeQueue: background.wakeQueue },
    { isStopping: () => state.isStopping },
  );
  const cells = serveCells(server, { config, ...ground }, { background, isBackgroundElsewhere });
  parts.defer(() => cells.close());
  const close = closeInOrder(server);
  parts.defer(async () => {
    services.feedBell.close();
    await Promise.all([close(drainMs), background.stop(drainMs), cells.stop(drainMs)]);
  });
  return server;
}
