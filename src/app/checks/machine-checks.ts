import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { identifyServer } from '#kit/check-health.ts';
import { checkMailServer } from '#kit/smtp.ts';
import { type Check, createOkFinding, createProblemFinding, createWarningFinding } from './check.ts';
import type { MachineFacts } from './facts.ts';
import { megabyte, memoryLimit, memoryNeeded } from './memory.ts';

/** The major version of Node.js that setup.mjs installs. Older versions cannot run TypeScript. */
const oldestNode = 24;
/** How long the mail server has to respond to a test connection that sends no email, in milliseconds. */
const mailServerMs = 3_000;
/**
 * Warns at twice the amount of free space below which uploads are refused, so that the operator has time to
 * react.
 */
const roomFactor = 2;

const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host);

/** Checks of the machine that runs this process, and of what it connects to. */
export const machineChecks: readonly Check<MachineFacts>[] = [
  {
    id: 'versions',
    severity: 'start',
    async look() {
      const { node } = process.versions;
      if (Number.parseInt(node, 10) < oldestNode)
        return createProblemFinding(
          `This is Node ${node}, but Formloom needs ${oldestNode}.`,
          'Start Formloom with npm start or setup.mjs. They install the right version.',
        );
      return existsSync(fileURLToPath(new URL('../../../dist/web', import.meta.url)))
        ? createOkFinding(`Node ${node}.`)
        : createWarningFinding(
            'The console is not built.',
            'Run npm start to build it, or use a release, in which it is built.',
          );
    },
  },
  {
    id: 'disks',
    severity: 'ready',
    async look({ config, disks }) {
      const all = await disks();
      for (const folder of all.flatMap(({ folders }) => folders))
        try {
          await access(folder, constants.W_OK);
        } catch {
          return createProblemFinding(
            `Formloom cannot write to ${folder}.`,
            'Give the user that runs Formloom write access, or choose another DATA_DIR or BACKUP_TO.',
          );
        }
      const rooms = all.map(({ name, folders, free }) => ({
        isFull: free < config.limits.freeBytes,
        room: `${Math.floor(free / megabyte)} MB free on the disk of ${folders[0]} (${name})`,
      }));
      const full = rooms.find(({ isFull }) => isFull);
      return full
        ? createProblemFinding(
            `${full.room}. This is less than UPLOAD_FREE_MB, so uploads are refused.`,
            'Free up space on it, or enlarge it.',
          )
        : createOkFinding(`${rooms.map(({ room }) => room).join('; ')}.`);
    },
    async obstacle({ storage }) {
      try {
        return (await storage().hasRoom()) ? undefined : 'the disk for uploads is full';
      } catch {
        return 'the storage for uploads cannot be read';
      }
    },
    async incidents({ config, disks }) {
      const { freeBytes } = config.limits;
      const low = (await disks()).filter(({ free }) => free < freeBytes * roomFactor);
      return low.map(({ folders: [folder], free }) => ({
        key: `disk ${hostname()} ${folder}`,
        what: `The disk of ${folder} is nearly full`,
        remedy: `Free up space, or enlarge the disk. Below ${Math.round(freeBytes / megabyte)} MB (UPLOAD_FREE_MB), uploads are refused. If the disk is full, the database stops.`,
        fields: [
          { label: 'Machine', value: hostname() },
          { label: 'Free', value: `${Math.floor(free / megabyte)} MB` },
        ],
      }));
    },
    async gauges({ disks }) {
      const all = await disks();
      const byDisk = (of: 'free' | 'size') =>
        all.map((disk) => ({ labels: { disk: disk.name }, value: disk[of] }));
      return [
        ['disk_free_bytes', 'Free bytes that Formloom can use on the disk of a folder.', byDisk('free')],
        ['disk_bytes', 'Size of the disk of a folder in bytes.', byDisk('size')],
      ];
    },
  },
  {
    id: 'key file',
    severity: 'notice',
    async look({ config: { dataDir, secretKey } }) {
      const path = join(dataDir, 'secret.key');
      if (secretKey !== undefined) return createOkFinding('SECRET_KEY is set.');
      if (!existsSync(path)) return createOkFinding('The first start creates it.');
      const { mode } = await stat(path);
      return (mode & 0o077) === 0
        ? createOkFinding(`Only the owner of ${path} can read it.`)
        : createProblemFinding(`Other users of this machine can read ${path}.`, `chmod 600 ${path}`);
    },
  },
  {
    id: 'memory limit',
    severity: 'notice',
    async look({ config }) {
      const needed = memoryNeeded(config);
      const limit = memoryLimit();
      return limit === undefined || limit >= needed
        ? createOkFinding(`Formloom needs ${needed} MB.`)
        : createProblemFinding(
            `This container or service is limited to ${limit} MB, but Formloom needs ${needed} MB.`,
            'Raise the limit, or lower WEB_PROCESSES.',
          );
    },
  },
  {
    id: 'PUBLIC_URL',
    severity: 'notice',
    async look({ config: { publicUrl, host, port } }) {
      if (isLoopback(new URL(publicUrl).hostname) && !isLoopback(host))
        return createProblemFinding(
          `PUBLIC_URL is ${publicUrl}, which only works on this machine.`,
          'Set it to the URL that visitors use, such as https://forms.example.org.',
        );
      const there = await identifyServer(publicUrl);
      if (there === 'this') return createOkFinding(`${publicUrl} reaches this service.`);
      const isRunning =
        (await identifyServer(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)) === 'this';
      if (!isRunning)
        return createOkFinding(
          `${publicUrl}. Run doctor while the service is running to check that this URL reaches it.`,
        );
      return there === 'other'
        ? createProblemFinding(
            `Another program responds at ${publicUrl}.`,
            'Make the proxy at this URL forward requests to HOST and PORT, or correct PUBLIC_URL.',
          )
        : createWarningFinding(
            `${publicUrl} cannot be reached from this machine.`,
            'Check that other machines can reach it: emails and the builder contain links to it.',
          );
    },
  },
  {
    id: 'X-Forwarded-For',
    severity: 'notice',
    look: async ({ config: { publicUrl, trustProxy } }) =>
      publicUrl.startsWith('https:') && trustProxy === false
        ? createProblemFinding(
            'PUBLIC_URL is an https URL, so there is a proxy, but its X-Forwarded-For header is not trusted. All visitors share one rate limit.',
            'Set TRUST_PROXY to the number of proxies or to their IP addresses.',
          )
        : createOkFinding(
            trustProxy === false ? 'No proxy is expected.' : `Trusted from ${String(trustProxy)}.`,
          ),
  },
  {
    id: 'mail server',
    severity: 'notice',
    async look({ config: { smtp }, mailProblem }) {
      if (!smtp) return createOkFinding('SMTP_URL is not set, so no emails are sent.');
      const reason = mailProblem ? mailProblem() : (await checkMailServer(smtp, mailServerMs))?.reason;
      return reason === undefined
        ? createOkFinding(`The mail server at ${smtp.host} responds.`)
        : createProblemFinding(
            reason.replace(/\.?$/, '.'),
            'Check SMTP_URL and the mail server. Emails stay in the queue and are retried.',
          );
    },
    email: { what: 'The mail server does not accept emails', label: 'Response' },
  },
];
