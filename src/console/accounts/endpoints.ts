import type { ConsoleRoute } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { memberInvitationRoutes } from './invitation-endpoints.ts';
import { keyRoutes } from './key-endpoints.ts';
import { memberRoutes } from './member-endpoints.ts';
import { passwordResetRoutes } from './password-reset-endpoints.ts';
import { sessionRoutes } from './session-endpoints.ts';
import { workspaceRoutes } from './workspace-endpoints.ts';

/** Who is signed in, and what a workspace's people and keys are. */
export function accountRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  return [
    ...sessionRoutes(services),
    ...workspaceRoutes(services),
    ...memberRoutes(services),
    ...memberInvitationRoutes(services),
    ...passwordResetRoutes(services),
    ...keyRoutes(services),
  ];
}
