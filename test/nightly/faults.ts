import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endWithSignals } from '../end-run.ts';

/*
 * npm run test:long -- faults           the fault matrix of webhooks with 1,000 events for each fault
 * npm run test:long -- faults <events>  the same matrix with this many events for each fault
 *
 * Also sends 10,000 events without faults on three processes. npm test runs a slice.
 */
const events = Number(process.argv[2] ?? 1_000);
if (!Number.isInteger(events) || events < 2 || events % 2 > 0)
  throw new Error(`"${process.argv[2]}" is no even number of events.`);

endWithSignals();
const child = spawn(
  process.execPath,
  ['--disable-warning=ExperimentalWarning', 'test/run.ts', 'test/faults/*.test.ts'],
  {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: 'inherit',
    env: { ...process.env, FAULT_EVENTS: String(events), TEST_TIMEOUT_MS: '1800000' },
  },
);
const [code] = (await once(child, 'exit')) as [number | null];
process.exit(code ?? 1);
