import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/*
 * npm run test:properties     every property with its full number of random cases; npm test tries a quarter of them
 */
const files = [
  'src/ast/**/*.test.ts',
  'src/kit/json-body.test.ts',
  'src/mail/template/*.test.ts',
  'test/hostile.test.ts',
];
const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'test/run.ts', ...files], {
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, TEST_CASES: 'full', TEST_TIMEOUT_MS: '1800000' },
});
const [code] = (await once(child, 'exit')) as [number | null];
process.exit(code ?? 1);
