import { once } from 'node:events';
import { connect } from 'node:net';

/** What came back on a connection until the server closed it: of the first answer, its status, headers and body. */
export type RawAnswer = { status: number; headers: Record<string, string>; body: string; text: string };

/**
 * Sends bytes as they are, which no HTTP client does, and reads until the server hangs up. Ask for that with
 * `Connection: close`, or send what makes it. Status 0: it hung up without an answer.
 * @param bytes sent in turn as fast as they are taken, until the server hangs up; a generator may have no end.
 * @param end closes our side behind the bytes, so that the server need not wait for more.
 * @param from another loopback address, such as 127.0.0.9, to be another client.
 */
export async function sendRaw(
  url: string,
  bytes: string | Buffer | Iterable<string | Buffer>,
  { from, seconds = 10, end = false }: { from?: string; seconds?: number; end?: boolean } = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ...(from && { localAddress: from }) });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A server that hangs up on a sender resets the connection; what it said before is what counts.
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  let isTooLate = false;
  const limit = setTimeout(() => {
    isTooLate = true;
    socket.destroy();
  }, seconds * 1_000);
  for (const chunk of typeof bytes === 'string' || Buffer.isBuffer(bytes) ? [bytes] : bytes) {
    if (socket.destroyed) break;
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain').catch(() => closed), closed]);
  }
  if (end && !socket.destroyed) socket.end();
  await closed;
  clearTimeout(limit);
  if (isTooLate) throw new Error(`the connection was still open after ${seconds} s`);
  return readAnswer(Buffer.concat(chunks).toString());
}

function readAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  return {
    status: Number(first.split(' ')[1] ?? 0),
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: rest.join('\r\n\r\n'),
    text,
  };
}

/** A request as bytes, which asks the server to hang up after it. */
export const requestText = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    '',
    body,
  ].join('\r\n');
