import { once } from 'node:events';
import { ApiError } from '#kit/errors.ts';
import { openLog } from '#kit/log.ts';
import { apiCommand, flag, optional } from './command.ts';
import { Unreached } from './remote-api.ts';
import { text } from './values.ts';

/** The operations for a program on this machine that speaks the Model Context Protocol (docs/mcp.md). */
export const mcpCommand = apiCommand({
  name: 'mcp',
  summary: 'Serves the Model Context Protocol over standard input and output, until the input ends.',
  about:
    'For the configuration of an MCP client. It calls the service at --url with its key, or the database of this machine with every permission.',
  options: { tools: optional(text('<names>')), 'read-only': flag },
  async run({ api, signal }, { tools, 'read-only': isReadOnly }) {
    const [
      { serveStdio },
      { openMcp },
      { readSelection },
      { drawTools },
      { declaredRoutes },
      { readJsonBody },
    ] = await Promise.all([
      import('@modelcontextprotocol/server/stdio'),
      import('../mcp/open-mcp.ts'),
      import('../mcp/selection.ts'),
      import('../mcp/tools.ts'),
      import('./operation-commands.ts'),
      import('#kit/json-body.ts'),
    ]);
    const limited: typeof api = async (request) => {
      // The limits of a request body hold here too, where no HTTP server reads it.
      if (request.body && !Buffer.isBuffer(request.body))
        readJsonBody(Buffer.from(JSON.stringify(request.body)));
      return api(request).catch((error: unknown) => {
        throw error instanceof Unreached ? new ApiError('service_unavailable', error.message) : error;
      });
    };
    const drawn = drawTools(declaredRoutes());
    const selection = readSelection({ tools, readOnly: String(isReadOnly) }, drawn.byName);
    const scope = { tools: drawn, api: limited, may: () => true, selection, log: openLog('warn') };
    const connection = serveStdio(() => openMcp(scope), { maxSubscriptions: 0 });
    await once(process.stdin, 'end', { signal });
    await connection.close();
    return undefined;
  },
});
