import { benchProcesses } from './run.ts';
await benchProcesses(2);
process.exit(0);
