import { lazyRouteComponent } from '@tanstack/react-router';
import { ApiProblem, isReady } from '../api/client.ts';

/** The script of a screen could not be loaded: only the page as a whole can be loaded again. */
export class NotLoadedProblem extends ApiProblem {}

/**
 * A screen that is loaded when it is first shown. Where the service is away that is said, and the screen comes when it is back;
 * one that a newer version does not have any more is loaded with its page, which lazyRouteComponent sees to.
 */
export const lazyScreen: typeof lazyRouteComponent = (importer, name) =>
  lazyRouteComponent(
    () =>
      importer().catch(async (error: unknown) => {
        if (await isReady()) throw error;
        throw new NotLoadedProblem(0, { message: 'The service cannot be reached.' });
      }),
    name,
  );
