import type { Command } from './command.ts';
import { deliveryCommands } from './delivery-commands.ts';
import { keyCommands } from './key-commands.ts';
import { userCommands } from './user-commands.ts';
import { webhookCommands } from './webhook-commands.ts';
import { workspaceCommands } from './workspace-commands.ts';

/** Every command of the operator's surface. DESIGN section 5: scripts depend on their names, options and answers. */
export const commands: readonly Command[] = [
  ...workspaceCommands,
  ...keyCommands,
  ...userCommands,
  ...webhookCommands,
  ...deliveryCommands,
];
