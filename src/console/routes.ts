import { accountRoutes } from './accounts/endpoints.ts';
import type { ConsoleRoute } from './endpoint.ts';
import { locateRoutes } from './locate/endpoints.ts';
import type { ConsoleServices } from './services.ts';
import { arrangementRoutes } from './submissions/arrangement.ts';

/** Everything that the browser may ask for, below /app/api; each slice lists its own. */
export function consoleRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  return [...accountRoutes(services), ...locateRoutes(services), ...arrangementRoutes(services)];
}
