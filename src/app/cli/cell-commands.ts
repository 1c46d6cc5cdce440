import { sayCount } from '#ast/say-count.ts';
import { refreshCells } from '#kit/cells/cells.ts';
import { moveCell } from '#kit/cells/citus/move-cell.ts';
import { openNearTables } from '#kit/cells/citus/near.ts';
import { createCell } from '#kit/cells/create-cell.ts';
import { type Forgotten, forgetCell } from '#kit/cells/forget-cell.ts';
import { listCells } from '#kit/cells/list-cells.ts';
import { createCellOnServer } from '#kit/cells/servers/create-cell-on-server.ts';
import { readdressCell } from '#kit/cells/servers/readdress-cell.ts';
import { reachServers, sealAddress } from '#kit/cells/servers/reach-server.ts';
import { type Database, openDatabase } from '#kit/database.ts';
import { placeOf } from '#kit/find-host.ts';
import { keyChannel } from '#workspaces/keys/queries.ts';
import { refuseProblems } from '../checks/check.ts';
import { databaseChecks } from '../checks/database-checks.ts';
import { command, flag, optional, required } from './command.ts';
import { text } from './values.ts';

export const cellCommands = [
  command({
    name: 'cell create',
    summary:
      'Makes one more cell, in the database or in that of another server: tables, a queue and a word index of its own, for new workspaces.',
    about:
      'A workspace stays in its cell. New ones go to the cell that takes the fewest bytes, 15 seconds after it was made. While it has none, `cell forget` takes it back. See docs/operating/cells.md.',
    parameters: { name: text('<name>') },
    options: {
      server: {
        ...optional(text('<DATABASE_URL>')),
        about: 'Of another server, which a backup of this one then leaves out: `backup` and `move` refuse.',
      },
    },
    note: 'Every process of the service has heard of it, and has opened it.',
    async run({ config, database, url, log, vault, tell }, { name, server }) {
      const { databasePool: pool, webProcesses: processes } = config;
      const service = { pool, processes, channel: keyChannel };
      // Nothing ends it for taking long, as it does where the first cell is large or somebody writes to it.
      const open = (connectionString: string): Database =>
        openDatabase({ connectionString }, { pool: 2, log, limits: false });
      const unhurried = open(url);
      const there = server === undefined ? undefined : open(server);
      try {
        if (there) {
          await refuseProblems(databaseChecks, { database: there });
          const sealed = sealAddress(vault, server!);
          await createCellOnServer(unhurried, name, {
            there,
            server: sealed,
            place: placeOf(server!),
            service,
            tell,
          });
        } else {
          await createCell(unhurried, name, { service, tell });
          await openNearTables(unhurried);
        }
      } finally {
        await Promise.all([unhurried.end(), there?.end()]);
      }
      await refreshCells(database);
      return { name };
    },
  }),
  command({
    name: 'cell address',
    summary:
      'Says where a cell on another server is from now on: its database was moved, or has another password.',
    about:
      'The server has to answer there, and to have this very cell, of this version or an earlier one, with nothing in it that another cell has too. While the service runs, no other database may answer at the old address. See docs/operating/cells.md.',
    parameters: { name: text('<name>') },
    options: { server: required(text('<DATABASE_URL>')) },
    note: 'Every process of the service has heard of it, and goes there.',
    async run({ database, log, vault }, { name, server }) {
      const there = openDatabase({ connectionString: server }, { pool: 2, log });
      try {
        await refuseProblems(databaseChecks, { database: there });
        await readdressCell(database, name, {
          server: sealAddress(vault, server),
          reach: reachServers(database, vault, { log }),
          channel: keyChannel,
        });
      } finally {
        await there.end();
      }
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
    name: 'cell forget',
    summary:
      'Lets go of a cell that is lost for good, or has no workspace: what was in it is nowhere then, and nobody waits for it.',
    about:
      'A cell that answers and has workspaces is refused; one that has none goes with its tables. Where there is a backup of a lost one, restore that first and say where by `cell address`. See docs/operating/cells.md.',
    parameters: { name: text('<name>') },
    options: { yes: { ...flag, about: 'Does not ask whether it is meant.' } },
    note: 'Every process of the service has heard of it, and its name is free.',
    run: ({ database, confirm, tell }, { name, yes }) =>
      forgetCell(database, name, {
        confirm: async (forgotten) => {
          if (!yes) await confirm(sayForgotten(forgotten));
        },
        channel: keyChannel,
        tell,
      }),
  }),
  command({
    name: 'cell list',
    summary:
      'Lists the cells with what they take on the disk, how many workspaces are in each, and on a Citus cluster its node, or its server where that is another one.',
    run: async ({ database }) => ({ data: await listCells(database) }),
  }),
];

const sayForgotten = ({ name, server, workspaces, forms, seen_at: at }: Forgotten): string => {
  const had = at
    ? `had ${sayCount(workspaces!, 'workspace')} and ${sayCount(forms!, 'form')} when it was last seen, at ${at.toISOString()}`
    : 'was never seen since it was made';
  return `Let go of the cell ${name}${server === undefined ? '' : ` at ${server}`}, which ${had}`;
};
