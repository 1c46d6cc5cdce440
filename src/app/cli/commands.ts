import type { Command } from './command.ts';
import { databaseCommands } from './database-commands.ts';
import { deliveryCommands } from './delivery-commands.ts';
import { instanceKeyCommands } from './instance-key-commands.ts';
import { invitationCommands } from './invitation-commands.ts';
import { keyCommands } from './key-commands.ts';
import { mailCommands } from './mail-commands.ts';
import { userCommands } from './user-commands.ts';
import { webhookCommands } from './webhook-commands.ts';
import { workbenchCommands } from './workbench-commands.ts';
import { workspaceCommands } from './workspace-commands.ts';

/** Every command of the operator's surface. docs/rules.md 18: scripts depend on their names, options and answers. */
export const commands: readonly Command[] = [
  ...workspaceCommands,
  ...keyCommands,
  ...userCommands,
  ...webhookCommands,
  ...workbenchCommands,
  ...deliveryCommands,
  ...invitationCommands,
  ...mailCommands,
  ...instanceKeyCommands,
  ...databaseCommands,
];
