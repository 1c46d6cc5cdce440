import type { Dispatcher } from 'undici';
import type { Connection } from './connections.ts';

/** What is sent over a connection. */
type Message = { path: string; headers: Readonly<Record<string, string>>; body: Buffer };

export type Answer = {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Its first bytes. */
  head: Buffer;
  /** Milliseconds from the beginning to the status line. */
  firstByteMs: number;
  /** Whether it came to its end; else the rest was not read, and the connection is of no more use. */
  isWhole: boolean;
};

/** The deadline of an exchange came before the end of the answer. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** No more of an answer is read: the rest is cut off with the connection. */
const readBytes = 64 * 1_024;
/** How much of what was read is handed on, for the person who debugs the receiver. */
const headBytes = 4 * 1_024;

/**
 * Sends one POST and reads the head of its answer. Compressed answers stay as they are. Memory does not grow with
 * the answer: what is beyond the head is counted and dropped.
 * @param timeoutMs the one deadline, from connecting to the last byte read.
 * @throws DeadlinePassed, the signal's reason, or what the network or the parser said.
 */
export function exchange(
  connection: Connection,
  { path, headers, body }: Message,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Answer> {
  const began = performance.now();
  return new Promise<Answer>((resolve, reject) => {
    let answer: Omit<Answer, 'head' | 'isWhole'> | undefined;
    const chunks: Buffer[] = [];
    let size = 0;

    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    const fail = (error: Error): void => {
      end();
      reject(error);
      connection.destroy(error);
    };
    const succeed = (isWhole: boolean): void => {
      end();
      if (answer) resolve({ ...answer, head: Buffer.concat(chunks).subarray(0, headBytes), isWhole });
    };
    const abort = (): void => fail(signal.reason as Error);
    const timer = setTimeout(() => fail(new DeadlinePassed()), timeoutMs);
    signal.addEventListener('abort', abort, { once: true });

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStart(_, status, rawHeaders) {
        if (status < 200) return;
        answer = { status, headers: readHeaders(rawHeaders), firstByteMs: performance.now() - began };
      },
      onResponseData(_, chunk) {
        if (size < headBytes) chunks.push(chunk);
        size += chunk.length;
        if (size < readBytes) return;
        succeed(false);
        connection.destroy(new Error('The answer is longer than what is read of one.'));
      },
      onResponseEnd: () => succeed(true),
      onResponseError: (_, error) => fail(error),
    };
    connection.awaitsAnswer = true;
    connection.client.dispatch({ path, method: 'POST', headers, body }, handler);
  });
}

/** The headers of an answer that are handed on: at most 4 KB, so that a ledger of them stays small. */
function readHeaders(given: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const kept: Record<string, string> = Object.create(null);
  let left = headBytes;
  for (const [name, value] of Object.entries(given)) {
    const text = String(value);
    left -= name.length + text.length;
    if (left < 0) break;
    kept[name] = text;
  }
  return { ...kept };
}
