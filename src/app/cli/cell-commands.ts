import { refreshCells } from '#kit/cells/cells.ts';
import { moveCell } from '#kit/cells/citus/move-cell.ts';
import { createCell } from '#kit/cells/create-cell.ts';
import { listCells } from '#kit/cells/list-cells.ts';
import { openDatabase } from '#kit/database.ts';
import { keyChannel } from '#workspaces/keys/queries.ts';
import { command, required } from './command.ts';
import { text } from './values.ts';

export const cellCommands = [
  command({
    name: 'cell create',
    summary:
      'Makes one more cell in the database: tables, a queue and a word index of its own, for new workspaces.',
    about:
      'A workspace stays in its cell. New ones go to the cell that takes the fewest bytes, 15 seconds after it was made. It cannot be taken back. See docs/operating/cells.md.',
    parameters: { name: text('<name>') },
    note: 'Every process of the service has heard of it, and has opened it.',
    async run({ config, database, url, log }, { name }) {
      const { databasePool: pool, webProcesses: processes } = config;
      // Nothing ends it for taking long, as it does where the first cell is large or somebody writes to it.
      const unhurried = openDatabase({ connectionString: url }, { pool: 1, log, limits: false });
      try {
        await createCell(unhurried, name, { service: { pool, processes, channel: keyChannel } });
      } finally {
        await unhurried.end();
      }
      await refreshCells(database);
      return { name };
    },
  }),
  command({
    name: 'cell move',
    summary: 'Moves a cell to another node of a Citus cluster, while it serves.',
    about:
      'Nothing is lost, and who writes in the last moment waits for a part of a second. See docs/operating/cells.md.',
    parameters: { name: text('<name>') },
    options: { to: { ...required(text('<host:port>')), about: 'a node of the cluster' } },
    note: 'Every process of the service has heard of it, and connects to that node.',
    run: ({ database }, { name, to }) => moveCell(database, name, { to, channel: keyChannel }),
  }),
  command({
    name: 'cell list',
    summary:
      'Lists the cells with what they take on the disk, how many workspaces are in each, and on a Citus cluster its node.',
    run: async ({ database }) => ({ data: await listCells(database) }),
  }),
];
