import { once } from 'node:events';
import { openLog } from '#kit/log.ts';
import { readGroups } from '../mcp/groups.ts';
import type { ApiContext } from './command.ts';
import { apiCommand, optional } from './command.ts';
import { text } from './values.ts';

/** The operations for a program on this machine that speaks the Model Context Protocol (docs/mcp.md). */
export const mcpCommand = apiCommand({
  name: 'mcp',
  summary: 'Serves the Model Context Protocol over standard input and output, until the input ends.',
  about:
    'For the configuration of a client. Its tools are the operations that the key at --url may do, or all of them on the database of this machine.',
  options: { tools: optional(text('<groups>')) },
  async run({ api, remote, write, signal }, { tools }) {
    const groups = readGroups(tools);
    if (remote) {
      const { relay } = await import('../mcp/relay.ts');
      await relay(remote, groups, { input: process.stdin, write: (line) => write(Buffer.from(line)) });
    } else await serve(api, groups, signal);
    return undefined;
  },
});

async function serve(
  api: ApiContext['api'],
  groups: string[] | undefined,
  signal: ApiContext['signal'],
): Promise<void> {
  const [{ serveStdio }, { openMcp }, { drawTools }, { declaredRoutes }, { readJsonBody }] =
    await Promise.all([
      import('@modelcontextprotocol/server/stdio'),
      import('../mcp/open-mcp.ts'),
      import('../mcp/tools.ts'),
      import('./operation-commands.ts'),
      import('#kit/json-body.ts'),
    ]);
  const scope = { tools: drawTools(declaredRoutes()), may: () => true, groups, log: openLog('warn') };
  // No door has read what comes in: it is held to what a body may be here.
  const careful: typeof api = (request) => {
    if (request.body && !Buffer.isBuffer(request.body))
      readJsonBody(Buffer.from(JSON.stringify(request.body)));
    return api(request);
  };
  const connection = serveStdio(() => openMcp({ ...scope, api: careful }), { maxSubscriptions: 0 });
  await once(process.stdin, 'end', { signal });
  await connection.close();
}
