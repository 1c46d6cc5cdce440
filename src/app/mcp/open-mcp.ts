import { createHash } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type Tool as ListedTool,
} from '@modelcontextprotocol/server';
import { ApiError } from '#kit/errors.ts';
import type { Log } from '#kit/log.ts';
import { toApiError } from '#kit/problem-of.ts';
import type { Permission } from '#workspaces/permissions.ts';
import type { Api } from '../cli/api.ts';
import { version } from '../version.ts';
import { answerOf, questionOf, refusalOf, requestOf, type ToolAnswer } from './call-tool.ts';
import { instructions, prompts, writePrompt } from './prompts.ts';
import { listResources, readResource, templates } from './resources.ts';
import { groupOf, type Tool, type Tools } from './tools.ts';

/** What a server of MCP is opened for: one caller, and what they want of it. */
export type McpScope = {
  tools: Tools;
  /** Runs an operation as the caller. */
  api: Api;
  may: (permission: Permission) => boolean;
  /** The groups of tools that are wanted; undefined: all. */
  groups: readonly string[] | undefined;
  log: Log;
};

/**
 * A server of the Model Context Protocol for one caller: the operations that they may do as tools, a few of them as
 * resources too, and prompts. It keeps nothing between two requests.
 */
export function openMcp(scope: McpScope): McpServer {
  const { may, groups, tools } = scope;
  const isOpen = ({ route }: Tool): boolean =>
    may(route.operation.permission) && (groups === undefined || groups.includes(groupOf(route)));
  const open = new Map([...tools.byName].filter(([, tool]) => isOpen(tool)));
  const context = { ...scope, open };
  const mcp = new McpServer(
    { name: 'formloom', title: 'Formloom', version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions },
  );
  // Its own way of registering takes schemas of a library; what we have is the JSON Schema of the table.
  const { server } = mcp;
  server.setRequestHandler('tools/list', () => ({
    tools: [...open.values()].map(({ listed }) => listed as ListedTool),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = open.get(params.name);
    // What the key may not do is said by its name; what there is not, is not.
    if (!tool) throw unknown(`There is no tool ${params.name} for this key.`);
    const capabilities = capabilitiesOf(mcpReq) ?? server.getClientCapabilities();
    try {
      return await callTool(context, tool, params.arguments ?? {}, { mcpReq, capabilities });
    } catch (error) {
      return refusalOf(problemOf(error, scope.log));
    }
  });
  server.setRequestHandler('resources/list', ({ params }) => listResources(context, params?.cursor));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: templates(context) }));
  server.setRequestHandler('resources/read', async ({ params }) => {
    try {
      return await readResource(context, params.uri);
    } catch (error) {
      const { message } = problemOf(error, scope.log);
      throw unknown(message, { uri: params.uri });
    }
  });
  server.setRequestHandler('prompts/list', () => ({ prompts: prompts(context) }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    const written = writePrompt(context, params.name, params.arguments ?? {});
    if (!written) throw unknown(`There is no prompt ${params.name} with these arguments.`);
    return written;
  });
  return mcp;
}

const unknown = (message: string, data?: object): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);

/** What is ours to mend is logged, and its text stays here. */
function problemOf(error: unknown, log: Log): ApiError {
  const problem = toApiError(error);
  if (problem.status >= 500) log.error({ err: error }, 'a tool failed');
  return problem;
}

type Request = ServerContext['mcpReq'];

/** What the client says of itself with a request of 2026; before, it says so once, at the beginning of a connection. */
const capabilitiesOf = ({ envelope }: Request): ClientCapabilities | undefined =>
  (envelope as Readonly<Record<string, ClientCapabilities>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];

const canAsk = (capabilities: ClientCapabilities | undefined): boolean => {
  const { elicitation } = capabilities ?? {};
  return (
    elicitation !== undefined && (elicitation.form !== undefined || Object.keys(elicitation).length === 0)
  );
};

/** @throws ApiError what the operation refuses. */
async function callTool(
  { api, open }: { api: Api; open: ReadonlyMap<string, Tool> },
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  client: { mcpReq: Request; capabilities: ClientCapabilities | undefined },
): Promise<ToolAnswer | InputRequiredResult> {
  const request = requestOf(tool, given);
  if (tool.route.operation.isDestructive) {
    const question = await confirm({ api, open }, tool, given, client);
    if (question) return question;
  }
  return answerOf(tool, await api(request));
}

/**
 * Lets what cannot be undone through when a person says so: the client asks them, where it can, whatever the model
 * says; where it cannot, the model has to say that they were asked.
 * @returns what the client is to ask; undefined: it may be done.
 * @throws ApiError conflict where nobody said that it is meant.
 */
async function confirm(
  { api, open }: { api: Api; open: ReadonlyMap<string, Tool> },
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  { mcpReq, capabilities }: { mcpReq: Request; capabilities: ClientCapabilities | undefined },
): Promise<InputRequiredResult | undefined> {
  if (!canAsk(capabilities)) {
    if (given['confirm'] === true) return undefined;
    throw new ApiError(
      'conflict',
      'Nothing was done: this cannot be undone. Ask whoever you work for, then call it again with confirm: true.',
    );
  }
  // A yes is for this alone: the same words for another thing have another name.
  const digest = createHash('sha256').update(JSON.stringify([tool.listed.name, requestOf(tool, given)]));
  const key = `confirm_${digest.digest('hex').slice(0, 16)}`;
  const said = inputResponse(mcpReq.inputResponses, key);
  if (said.kind === 'elicit') {
    if (said.action === 'accept') return undefined;
    throw new ApiError('conflict', 'Nothing was done: the person who was asked did not want it.');
  }
  const message = await questionOf(api, open, tool, given);
  const requestedSchema = { type: 'object', properties: {} } as const;
  return inputRequired({
    inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema }) },
  });
}
