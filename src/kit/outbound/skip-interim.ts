import type { Socket } from 'node:net';

/** Whether the head of the final answer is still to come. The exchange sets it, the first final head clears it. */
export type Awaiting = { awaitsAnswer: boolean };

/** 1xx but not 101: a server that switches protocols sends no further answer. */
const interimHead = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/;
const shortestHead = 'HTTP/1.1 100 '.length;
/** A longer one is handed on, and is refused like any head of this size. */
const longestHead = 16 * 1_024;
const headEnd = '\r\n\r\n';

/**
 * Lets a socket skip interim answers such as 100 Continue and 103 Early Hints, however many come. undici breaks the
 * connection at a 100, as it never asks for one, but RFC 9110 (15.2) lets a server send them unasked, and some proxies do.
 */
export function skipInterim<S extends Socket>(socket: S, awaiting: () => Awaiting): S {
  const read = socket.read.bind(socket);
  let held: Buffer = Buffer.alloc(0);

  /** What the parser may see of what was read; undefined while that is nothing. */
  const filter = (chunk: Buffer): Buffer | undefined => {
    const state = awaiting();
    if (!state.awaitsAnswer) return chunk;
    held = Buffer.concat([held, chunk]);
    while (held.length > 0) {
      const start = held.toString('latin1', 0, shortestHead);
      if (start.length < shortestHead && 'HTTP/1.'.startsWith(start.slice(0, 7))) return undefined;
      const end = held.indexOf(headEnd);
      const isInterim = interimHead.test(start);
      if (isInterim && end < 0 && held.length < longestHead) return undefined;
      if (!isInterim || end < 0) {
        const final = held;
        held = Buffer.alloc(0);
        state.awaitsAnswer = false;
        return final;
      }
      held = held.subarray(end + headEnd.length);
    }
    return undefined;
  };

  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size) as Buffer | null;
      if (chunk === null) return null;
      const seen = filter(chunk);
      if (seen) return seen;
    }
  };
  return socket;
}
