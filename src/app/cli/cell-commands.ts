import { refreshCells } from '#cells/cells.ts';
import { listCells } from '#cells/choose-cell.ts';
import { moveCell } from '#cells/citus/move-cell.ts';
import { createCell } from '#cells/create-cell.ts';
import { openDatabase } from '#kit/database.ts';
import { keyChannel } from '#workspaces/keys/key-rows.ts';
import { command, required } from './command.ts';
import { text } from './values.ts';

export const cellCommands = [
  command({
    name: 'cell create',
    summary: 'Creates a cell: tables, a queue and a word index of its own, for new workspaces.',
    about:
      'A workspace stays in its cell. New workspaces go to the smallest cell. A cell takes workspaces 15 seconds after it was made. See docs/operating/cells.md.',
    parameters: { name: text('<name>') },
    note: 'Every process of the service opens it without a restart.',
    async run({ config, database, url, log, tell }, { name }) {
      const { databasePool: pool, webProcesses: processes } = config;
      // Without limits of time: it waits for a backup and for other changes of tables.
      const unhurried = openDatabase({ connectionString: url }, { pool: 2, log, limits: false });
      try {
        await createCell(unhurried, name, { service: { pool, processes, channel: keyChannel }, tell });
      } finally {
        await unhurried.end();
      }
      await refreshCells(database);
      return { name };
    },
  }),
  command({
    name: 'cell move',
    summary: 'Moves a cell to another node of a Citus cluster, while it is used.',
    about:
      'Nothing that was acknowledged is lost. At its end requests that write to the cell are answered 503 for some seconds. See docs/operating/cells.md.',
    parameters: { name: text('<name>') },
    options: { to: { ...required(text('<host:port>')), about: 'A node of the cluster.' } },
    note: 'Every process of the service connects to that node.',
    run: ({ database }, { name, to }) => moveCell(database, name, { to, channel: keyChannel }),
  }),
  command({
    name: 'cell list',
    summary: 'Lists the cells with their size, their workspaces, and on a Citus cluster their nodes.',
    run: async ({ database }) => ({ data: await listCells(database) }),
  }),
];
