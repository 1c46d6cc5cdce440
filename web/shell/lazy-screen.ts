import { lazyRouteComponent } from '@tanstack/react-router';
import { ApiProblem, isReady } from '../api/client.ts';

const notLoaded = 'screen_not_loaded';

/** Whether the script of a screen could not be loaded: only the page as a whole can be loaded again. */
export const isNotLoaded = (error: unknown): boolean =>
  error instanceof ApiProblem && error.code === notLoaded;

/**
 * A screen that is loaded when it is first shown. Where the service is away that is said, and the screen comes when it is back;
 * one that a newer version does not have any more is loaded with its page, which lazyRouteComponent sees to.
 */
export const lazyScreen: typeof lazyRouteComponent = (importer, name) =>
  lazyRouteComponent(
    () =>
      importer().catch(async (error: unknown) => {
        if (await isReady()) throw error;
        throw new ApiProblem(0, { error: notLoaded, message: 'The service cannot be reached.' });
      }),
    name,
  );
