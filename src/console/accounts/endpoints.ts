import type { ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { joinRoutes } from './join-endpoints.ts';
import { passwordResetRoutes } from './password-reset-endpoints.ts';
import { sessionRoutes } from './session-endpoints.ts';
import { workspaceRoutes } from './workspace-endpoints.ts';

/** Who is signed in, and how they come and go. */
export function accountRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  return [
    ...sessionRoutes(services),
    ...workspaceRoutes(services),
    ...joinRoutes(services),
    ...passwordResetRoutes(services),
  ];
}
