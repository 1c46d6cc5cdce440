import { backupCommands } from './backup-commands.ts';
import { cellCommands } from './cell-commands.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion-command.ts';
import { databaseCommands } from './database-commands.ts';
import { doctorCommand } from './doctor-command.ts';
import { formFolderCommands } from './form-folder-commands.ts';
import { instanceKeyCommands } from './instance-key-commands.ts';
import { jobCommands } from './job-commands.ts';
import { listenCommand } from './listen-command.ts';
import { mailCommands } from './mail-commands.ts';
import { mcpCommand } from './mcp-command.ts';
import { moveCommand } from './move-command.ts';
import { sweepCommands } from './sweep-commands.ts';
import { userCommands } from './user-commands.ts';
import { workspaceCommands } from './workspace-commands.ts';

/** The commands that are no operations of the API. docs/rules.md 18: scripts depend on their names, options and answers. */
export const ownCommands: readonly Command[] = [
  ...workspaceCommands,
  ...userCommands,
  ...mailCommands,
  ...formFolderCommands,
  ...instanceKeyCommands,
  ...databaseCommands,
  ...backupCommands,
  ...jobCommands,
  ...sweepCommands,
  moveCommand,
  ...cellCommands,
  listenCommand,
  mcpCommand,
  doctorCommand,
  completionCommand,
];

/** Every command. The operations are loaded only where one is asked for: it takes most of the time of a start. */
export async function allCommands(): Promise<readonly Command[]> {
  const [{ operationCommands }, { aliasCommands }] = await Promise.all([
    import('./operation-commands.ts'),
    import('./aliases.ts'),
  ]);
  const generated = operationCommands();
  return [...ownCommands, ...aliasCommands(generated), ...generated];
}
