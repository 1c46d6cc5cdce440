import { once } from 'node:events';
import { findInAllCells } from '#cells/across-cells.ts';
import { refreshCells } from '#cells/cells.ts';
import { listCells } from '#cells/choose-cell.ts';
import { createCell } from '#cells/create-cell.ts';
import { moveCell } from '#cells/move-cell.ts';
import { listReceivedFiles } from '#files/stored-files.ts';
import { listStoredImages } from '#forms/images/images.ts';
import { now } from '#kit/clock.ts';
import { openDatabase } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { claimStorage } from '#kit/instance-key.ts';
import { openLog } from '#kit/log.ts';
import { readMailAddress } from '#kit/outbox/address.ts';
import { findClockDoubt, recordSweepTime } from '#kit/queue/periodic.ts';
import { requireRow } from '#kit/statement.ts';
import { describeStorage, openStorage } from '#kit/storage/open-storage.ts';
import { keyChangeChannel } from '#workspaces/api-key.ts';
import { backupCommands, moveInstanceCommand } from './backup-commands.ts';
import {
  type Command,
  defineApiCommand,
  defineCommandListCommand,
  defineDatabaseCommand,
  defineMachineCommand,
  flagOption,
  optionalOption,
  PartialFailureError,
  requiredOption,
} from './command.ts';
import { completionScript, shells } from './completion.ts';
import { formFolderCommands } from './form-folder-commands.ts';
import { instanceKeyCommands } from './instance-key-commands.ts';
import { listenCommand } from './listen-command.ts';
import { Unreached } from './remote-api.ts';
import type { Diagnosis } from './run-doctor.ts';
import { choiceValue, readTextFile, textValue, UsageError, type ValueReader } from './values.ts';
import { jobCommands, userCommands, workspaceCommands } from './workspace-commands.ts';

const address: ValueReader<{ address: string; name?: string }> = {
  shows: '<address>',
  mustBe: 'an email address such as ada@example.org',
  read: readMailAddress,
};

const mailCommands = [
  defineDatabaseCommand({
    name: 'announce',
    summary:
      'Emails each owner of API keys. Running it again emails no owner twice; --dry-run lists the recipients.',
    options: {
      subject: requiredOption(textValue('<text>')),
      'text-file': requiredOption(textValue('<file>')),
      'dry-run': flagOption,
    },
    note: 'A running server sends the emails.',
    async run({ config, database, vault }, { subject, 'text-file': path, 'dry-run': isDry }) {
      const announcement = { subject: readLine(subject), text: readText(path) };
      const { announceByEmail, findAudience } = await import('#mail/announcements.ts');
      if (isDry) {
        const audience = await findAudience(database, announcement);
        const data = audience.map(({ email, name, workspace_id }) => ({ email, name, workspace_id }));
        return { dry_run: true, recipients: data.length, data };
      }
      if (!config.smtp) throw new UsageError('No emails can be sent. Set SMTP_URL and MAIL_FROM first.');
      const data = await announceByEmail({ database, vault, publicUrl: config.publicUrl }, announcement);
      return { dry_run: false, recipients: data.length, data };
    },
  }),
  defineDatabaseCommand({
    name: 'mail send-test',
    summary: 'Sends one email immediately and shows the response of the mail server.',
    options: { to: requiredOption(address) },
    async run({ config }, { to }) {
      const { sendTestMail } = await import('#mail/endpoints.ts');
      const tried = await sendTestMail(config.smtp, to);
      if (!tried.sent) throw new PartialFailureError(tried.result, tried);
      return tried;
    },
  }),
];

function readLine(subject: string): string {
  const line = subject.trim();
  if (line === '' || /\p{Cc}/u.test(line)) throw new UsageError('--subject must be a single line of text.');
  return line;
}

function readText(path: string): string {
  const read = readTextFile(path).trim();
  if (read === '') throw new UsageError(`${path} is empty.`);
  return read;
}

/** Serves the operations to a program on this machine over the Model Context Protocol (docs/mcp.md). */
const mcpCommand = defineApiCommand({
  name: 'mcp',
  summary: 'Serves the Model Context Protocol over standard input and output until the input ends.',
  about:
    'Use this command in the configuration of an MCP client. It calls the server at --url with its API key, or uses the database of this machine with all permissions.',
  options: { tools: optionalOption(textValue('<names>')), 'read-only': flagOption },
  async run({ api, signal }, { tools, 'read-only': isReadOnly }) {
    const [
      { serveStdio },
      { openMcp },
      { buildTools, readToolSelection },
      { declaredRoutes },
      { readJsonBody },
    ] = await Promise.all([
      import('@modelcontextprotocol/server/stdio'),
      import('../mcp/open-mcp.ts'),
      import('../mcp/tools.ts'),
      import('./operation-commands.ts'),
      import('#kit/json-body.ts'),
    ]);
    const limited: typeof api = async (request) => {
      // The limits for request bodies apply here too, where no HTTP server enforces them.
      if (request.body && !Buffer.isBuffer(request.body))
        readJsonBody(Buffer.from(JSON.stringify(request.body)));
      return api(request).catch((error: unknown) => {
        throw error instanceof Unreached ? new ApiError('service_unavailable', error.message) : error;
      });
    };
    const drawn = buildTools(declaredRoutes());
    const selection = readToolSelection({ tools, readOnly: String(isReadOnly) }, drawn.byName);
    const scope = { tools: drawn, api: limited, may: () => true, selection, log: openLog('warn') };
    const connection = serveStdio(() => openMcp(scope), { maxSubscriptions: 0 });
    await once(process.stdin, 'end', { signal });
    await connection.close();
    return undefined;
  },
});

const cellCommands = [
  defineDatabaseCommand({
    name: 'cell create',
    summary: 'Creates a cell for new workspaces, with its own tables, queue and word index.',
    about:
      'A workspace stays in its cell. New workspaces go to the smallest cell. A new cell accepts workspaces after 15 seconds. See docs/operating/cells.md.',
    parameters: { name: textValue('<name>') },
    note: 'All processes of the service start to use the cell without a restart.',
    async run({ config, database, url, log, report }, { name }) {
      const { databasePool: pool, webProcesses: processes } = config;
      // Opened without timeouts, because creating a cell waits for backups and other schema changes.
      const untimed = openDatabase({ connectionString: url }, { pool: 2, log, limits: false });
      try {
        await createCell(untimed, name, { service: { pool, processes, channel: keyChangeChannel }, report });
      } finally {
        await untimed.end();
      }
      await refreshCells(database);
      return { name };
    },
  }),
  defineDatabaseCommand({
    name: 'cell move',
    summary: 'Moves a cell to another node of a Citus cluster while the cell is in use.',
    about:
      'Acknowledged data is never lost. At the end, writes to the cell fail with 503 for a few seconds. See docs/operating/cells.md.',
    parameters: { name: textValue('<name>') },
    options: { to: { ...requiredOption(textValue('<host:port>')), about: 'A node of the cluster.' } },
    note: 'All processes of the service connect to that node.',
    run: ({ database }, { name, to }) => moveCell(database, name, { to, channel: keyChangeChannel }),
  }),
  defineDatabaseCommand({
    name: 'cell list',
    summary: 'Lists the cells with their size and workspaces and, on a Citus cluster, their nodes.',
    run: async ({ database }) => ({ data: await listCells(database) }),
  }),
];

const databaseCommands = [
  defineDatabaseCommand({
    name: 'database create',
    summary: 'Creates the database if it does not exist, as the service does on its first start.',
    makesDatabase: true,
    run: ({ description }) => Promise.resolve({ database: description }),
  }),
  defineDatabaseCommand({
    name: 'storage replace',
    summary:
      'Uses the storage in DATA_DIR or S3_ENDPOINT from now on, and counts missing files. Use it if files were lost, or copied without their marker.',
    note: 'Restart every running server.',
    async run({ config, database }) {
      const storage = openStorage(config);
      const place = describeStorage(config);
      await claimStorage(database, { storage, place }, { replaces: true });
      const counted = { files: 0, missing: 0 };
      const count = async (key: string): Promise<void> => {
        const content = await storage.open(key);
        content?.destroy();
        counted[content ? 'files' : 'missing'] += 1;
      };
      const keys = await findInAllCells(database, async (cells) => [
        ...(await Array.fromAsync(listReceivedFiles(cells))),
        ...(await listStoredImages(cells)),
      ]);
      for (const { key } of keys) await count(key);
      return { storage: place, ...counted };
    },
  }),
];

const marks: Readonly<Record<Diagnosis['state'], string>> = { ok: 'ok', warning: '!!', problem: 'XX' };

const doctorCommand = defineMachineCommand({
  name: 'doctor',
  summary: 'Checks the instance and its environment, and explains how to fix each problem.',
  about:
    'Changes nothing, and works whether or not the service is running. Exits with 0 if there are only warnings, and with 1 if there are problems. Severe problems also prevent the service from starting.',
  async run({ config, log }) {
    const { runDoctor } = await import('./run-doctor.ts');
    const answer = { data: await runDoctor(config, log) };
    const problems = answer.data.filter(({ state }) => state === 'problem').length;
    if (problems > 0)
      throw new PartialFailureError(
        problems === 1 ? 'Found 1 problem.' : `Found ${problems} problems.`,
        answer,
      );
    return answer;
  },
  show: (answer) =>
    (answer as { data: Diagnosis[] }).data
      .flatMap(({ check, state, finding, remedy }) => [
        `${marks[state]}  ${check.padEnd(17)} ${finding}`,
        ...(remedy === null ? [] : [`${' '.repeat(22)}${remedy}`]),
      ])
      .join('\n'),
});

const sweepCommands = [
  defineDatabaseCommand({
    name: 'sweeps confirm',
    summary: 'Confirms that the clock of this machine is right, so that deletion of expired data resumes.',
    options: { yes: { ...flagOption, about: 'Skips the confirmation.' } },
    note: 'A running server deletes expired data within a minute.',
    async run({ database, confirm }, { yes }) {
      const at = now();
      if (!yes)
        await confirm(
          `Delete all data that is past its retention limit according to the clock of this machine (${at.toISOString()})`,
        );
      const confirmed = requireRow(await recordSweepTime(database, {}));
      const doubt = await findClockDoubt(database);
      if (doubt) throw new UsageError(`${doubt.what} ${doubt.remedy}`);
      return { confirmed_at: confirmed.swept_at };
    },
  }),
];

const completionCommand = defineCommandListCommand({
  name: 'completion',
  summary: 'Prints a shell completion script, which also defines `formloom` if it is not installed.',
  about: [
    'bash, zsh: eval "$(npm run -s formloom -- completion bash)" in ~/.bashrc or ~/.zshrc, from this folder',
    'fish: npm run -s formloom -- completion fish > ~/.config/fish/completions/formloom.fish',
  ].join('\n'),
  parameters: { shell: choiceValue(shells) },
  show: (answer) => (answer as { script: string }).script.trimEnd(),
  run: (commands, { shell }) => Promise.resolve({ script: completionScript(shell, commands) }),
});

/**
 * The commands that are not operations of the API. Scripts depend on their names, options and output
 * (docs/rules.md 18).
 */
export const nonOperationCommands: readonly Command[] = [
  ...workspaceCommands,
  ...userCommands,
  ...mailCommands,
  ...formFolderCommands,
  ...instanceKeyCommands,
  ...databaseCommands,
  ...backupCommands,
  ...jobCommands,
  ...sweepCommands,
  moveInstanceCommand,
  ...cellCommands,
  listenCommand,
  mcpCommand,
  doctorCommand,
  completionCommand,
];

/**
 * Returns all commands. The operations are loaded only when needed, because loading them takes most of the
 * start time.
 */
export async function allCommands(): Promise<readonly Command[]> {
  const [{ operationCommands }, { aliasCommands }] = await Promise.all([
    import('./operation-commands.ts'),
    import('./aliases.ts'),
  ]);
  const generated = operationCommands();
  return [...nonOperationCommands, ...aliasCommands(generated), ...generated];
}
