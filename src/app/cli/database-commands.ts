import { command } from './command.ts';

export const databaseCommands = [
  command({
    name: 'database create',
    summary: 'Makes the database where there is none yet, as the first start of the service does.',
    makesDatabase: true,
    run: ({ description }) => Promise.resolve({ database: description }),
  }),
];
