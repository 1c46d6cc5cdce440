import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * What arrived on a connection until the server closed it: the status, headers and body of the first
 * response.
 */
export type RawAnswer = { status: number; headers: Record<string, string>; body: string; text: string };

/**
 * Sends raw bytes, which no HTTP client does, and reads until the server closes the connection. Request that
 * with `Connection: close`, or send bytes that cause it. Status 0 means it closed without a response.
 * @param bytes are sent in order as fast as the server reads, until it closes the connection. A generator may
 * be endless.
 * @param end closes our side after the bytes, so that the server does not wait for more.
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
  // A server that closes on a sender resets the connection. Only its earlier response counts.
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

/** Returns a request as bytes that asks the server to close the connection afterwards. */
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
