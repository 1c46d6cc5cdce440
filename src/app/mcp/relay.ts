import { createInterface } from 'node:readline';
import { isRecord } from '#ast/json.ts';
import { askRemote, type Remote, Unreached } from '../cli/remote-api.ts';

/** Where a relay gets messages from, and where it brings what is answered: a line each. */
type Ends = { input: NodeJS.ReadableStream; write: (line: string) => Promise<void> };

/** A message of JSON-RPC. */
type Message = Readonly<Record<string, unknown>>;

const codes = { parse: -32_700, server: -32_000 } as const;

/**
 * Passes the messages of a program on this machine to `/mcp` of another service, with its key, and the answers back, until
 * there are no more. What the tools are is said there alone.
 */
export async function relay(
  remote: Remote,
  groups: readonly string[] | undefined,
  ends: Ends,
): Promise<void> {
  const path = `/mcp${groups ? `?tools=${groups.join(',')}` : ''}`;
  const running = new Set<Promise<void>>();
  for await (const line of createInterface({ input: ends.input })) {
    if (line.trim() === '') continue;
    const passing = pass(line, path, remote, ends).finally(() => running.delete(passing));
    running.add(passing);
  }
  await Promise.all(running);
}

async function pass(line: string, path: string, remote: Remote, { write }: Ends): Promise<void> {
  const message = readMessage(line);
  const answers = message
    ? await ask(message, path, remote)
    : [refusal(codes.parse, 'This line is no message of JSON-RPC.')];
  const id = message?.['id'] ?? null;
  // Nobody waits for what a notification leads to.
  if (message && id === null) return;
  for (const answer of answers) await write(`${JSON.stringify({ ...answer, id: answer['id'] ?? id })}\n`);
}

async function ask(message: Message, path: string, remote: Remote): Promise<Message[]> {
  let response: Response;
  let text: string;
  try {
    const request = { method: 'POST', headers: headersOf(message), body: JSON.stringify(message) };
    response = await askRemote(remote, path, request);
    text = await response.text();
  } catch (error) {
    const why = error instanceof Unreached ? error.message : 'The answer broke off.';
    return [refusal(codes.server, why)];
  }
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const answers = (isStream ? eventsIn(text) : [text]).map(readMessage).filter((each) => each !== undefined);
  if (answers.some((each) => each['jsonrpc'] === '2.0') || response.status === 202) return answers;
  // The door of the API says no, in its own words: no key, too often.
  const why = answers[0]?.['message'];
  const sentence = typeof why === 'string' ? why : `What answers at ${remote.url.origin} is no Formloom.`;
  return [refusal(codes.server, sentence, answers[0])];
}

const refusal = (code: number, message: string, data?: Message): Message => ({
  jsonrpc: '2.0',
  error: { code, message, ...(data && { data }) },
});

/** What the protocol has in headers too since 2026, so that nobody on the way needs to read bodies. */
function headersOf({ method, params }: Message): Record<string, string> {
  const { _meta: meta, name, uri } = isRecord(params) ? params : {};
  const version = isRecord(meta) ? meta['io.modelcontextprotocol/protocolVersion'] : undefined;
  const named = [name, uri].find((each) => typeof each === 'string');
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(typeof version === 'string' && {
      'MCP-Protocol-Version': version,
      'Mcp-Method': String(method),
      ...(named !== undefined && { 'Mcp-Name': `=?base64?${Buffer.from(named).toString('base64')}?=` }),
    }),
  };
}

/** The data of each event of a stream that is over. */
const eventsIn = (text: string): string[] =>
  text.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5))
      .join('\n'),
  );

function readMessage(text: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return isRecord(message) ? message : undefined;
  } catch {
    // A caller says what that means to it.
    return undefined;
  }
}
