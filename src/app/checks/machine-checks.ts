import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askHealth } from '#kit/ask-health.ts';
import { greetMailServer } from '#kit/smtp.ts';
import { type Check, ok, problem, warning } from './check.ts';
import type { MachineFacts } from './facts.ts';
import { megabyte, memoryLimit, memoryNeeded } from './memory.ts';

/** The major version that setup.mjs installs. Older ones cannot run TypeScript. */
const oldestNode = 24;
/** How long the mail server has for its part of a dialogue without an email. */
const mailServerMs = 3_000;
/** The free space that uploads leave alone should be there twice: below that, an operator has to make room soon. */
const roomFactor = 2;

const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host);

/** The machine of this process, and what is around it. */
export const machineChecks: readonly Check<MachineFacts>[] = [
  {
    id: 'versions',
    severity: 'start',
    async look() {
      const { node } = process.versions;
      if (Number.parseInt(node, 10) < oldestNode)
        return problem(
          `This is Node ${node}, and Formloom needs ${oldestNode}.`,
          'Start it by npm start or setup.mjs, which bring the right one.',
        );
      return existsSync(fileURLToPath(new URL('../../../dist/web', import.meta.url)))
        ? ok(`Node ${node}.`)
        : warning('The pages of the console are not built.', 'npm start builds them; a release has them.');
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
          return problem(
            `${folder} cannot be written to.`,
            'Give it to the user that runs Formloom, or choose another DATA_DIR or BACKUP_TO.',
          );
        }
      const rooms = all.map(({ name, folders, free }) => ({
        isFull: free < config.limits.freeBytes,
        room: `${Math.floor(free / megabyte)} MB are free on the disk of ${folders[0]} (${name})`,
      }));
      const full = rooms.find(({ isFull }) => isFull);
      return full
        ? problem(`${full.room}, less than UPLOAD_FREE_MB, below which uploads are refused.`, 'Make room.')
        : ok(`${rooms.map(({ room }) => room).join('; ')}.`);
    },
    async obstacle({ storage }) {
      try {
        return (await storage().hasRoom()) ? undefined : 'the disk of the uploads is full';
      } catch {
        return 'the place of the uploads cannot be read';
      }
    },
    async incidents({ config, disks }) {
      const { freeBytes } = config.limits;
      const low = (await disks()).filter(({ free }) => free < freeBytes * roomFactor);
      return low.map(({ folders: [folder], free }) => ({
        key: `disk ${hostname()} ${folder}`,
        what: `The disk of ${folder} is nearly full`,
        remedy: `Make room, or give it a larger disk. Below ${Math.round(freeBytes / megabyte)} MB (UPLOAD_FREE_MB) uploads are refused; without any the database stops.`,
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
        ['disk_free_bytes', 'Bytes that Formloom can use on the disk of a folder.', byDisk('free')],
        ['disk_bytes', 'Bytes of the disk of a folder.', byDisk('size')],
      ];
    },
  },
  {
    id: 'key file',
    severity: 'notice',
    async look({ config: { dataDir, secretKey } }) {
      const path = join(dataDir, 'secret.key');
      if (secretKey !== undefined) return ok('SECRET_KEY is set.');
      if (!existsSync(path)) return ok('The first start makes one.');
      const { mode } = await stat(path);
      return (mode & 0o077) === 0
        ? ok(`Only its owner can read ${path}.`)
        : problem(`${path} can be read by others on this machine.`, `chmod 600 ${path}`);
    },
  },
  {
    id: 'memory limit',
    severity: 'notice',
    async look({ config }) {
      const needed = memoryNeeded(config);
      const limit = memoryLimit();
      return limit === undefined || limit >= needed
        ? ok(`${needed} MB are needed.`)
        : problem(
            `The limit of this container or service is ${limit} MB, and ${needed} MB are needed.`,
            'Raise it, or lower WEB_PROCESSES.',
          );
    },
  },
  {
    id: 'PUBLIC_URL',
    severity: 'notice',
    async look({ config: { publicUrl, host, port } }) {
      if (isLoopback(new URL(publicUrl).hostname) && !isLoopback(host))
        return problem(
          `PUBLIC_URL is ${publicUrl}, which leads everybody to their own machine.`,
          'Set it to the address that people use, such as https://forms.example.org.',
        );
      const there = await askHealth(publicUrl);
      if (there === 'ours') return ok(`${publicUrl} leads here.`);
      const isRunning =
        (await askHealth(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)) === 'ours';
      if (!isRunning)
        return ok(`${publicUrl}. Run doctor while the service runs to check that it leads here.`);
      return there === 'another'
        ? problem(
            `Another program answers at ${publicUrl}.`,
            'Let the proxy there pass requests on to HOST and PORT, or correct PUBLIC_URL.',
          )
        : warning(
            `${publicUrl} cannot be reached from this machine.`,
            'Check that other machines can reach it: emails and builders link to it.',
          );
    },
  },
  {
    id: 'X-Forwarded-For',
    severity: 'notice',
    look: async ({ config: { publicUrl, trustProxy } }) =>
      publicUrl.startsWith('https:') && trustProxy === false
        ? problem(
            'PUBLIC_URL is https, so there is a proxy, and its X-Forwarded-For is not trusted: all visitors count as one and share one limit.',
            'Set TRUST_PROXY to the number of proxies, or to their addresses.',
          )
        : ok(trustProxy === false ? 'No proxy is expected.' : `Trusted from ${String(trustProxy)}.`),
  },
  {
    id: 'mail server',
    severity: 'notice',
    async look({ config: { smtp }, mailProblem }) {
      if (!smtp) return ok('SMTP_URL is not set: nothing is sent.');
      const reason = mailProblem ? mailProblem() : (await greetMailServer(smtp, mailServerMs))?.reason;
      return reason === undefined
        ? ok(`The one at ${smtp.host} answers.`)
        : problem(
            reason.replace(/\.?$/, '.'),
            'Check SMTP_URL and the server. Emails wait and are tried again.',
          );
    },
    email: { what: 'The mail server takes no mail', label: 'What it says' },
  },
];
