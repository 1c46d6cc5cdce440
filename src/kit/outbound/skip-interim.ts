import type { Socket } from 'node:net';

/** Whether the head of the final response is missing. The exchange sets it; that head clears it. */
export type ResponseState = { awaitsAnswer: boolean };

/** 1xx except 101: a server that switches protocols sends no further response. */
const interimHead = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/;
const shortestHead = 'HTTP/1.1 100 '.length;
/** A longer head is passed on and rejected like any head of this size. */
const longestHead = 16 * 1_024;
const headEnd = '\r\n\r\n';

/**
 * Makes a socket skip any number of interim responses, such as 100 Continue and 103 Early Hints. undici
 * closes the connection at a 100, which it never requests. RFC 9110 (15.2) lets a server send one
 * unrequested, and some proxies do.
 */
export function skipInterim<S extends Socket>(socket: S, awaiting: () => ResponseState): S {
  const read = socket.read.bind(socket);
  let buffered: Buffer = Buffer.alloc(0);

  /** Returns the data for the parser, or undefined if there is none yet. */
  const filter = (chunk: Buffer): Buffer | undefined => {
    const state = awaiting();
    if (!state.awaitsAnswer) return chunk;
    buffered = Buffer.concat([buffered, chunk]);
    while (buffered.length > 0) {
      const start = buffered.toString('latin1', 0, shortestHead);
      if (start.length < shortestHead && 'HTTP/1.'.startsWith(start.slice(0, 7))) return undefined;
      const end = buffered.indexOf(headEnd);
      const isInterim = interimHead.test(start);
      if (isInterim && end < 0 && buffered.length < longestHead) return undefined;
      if (!isInterim || end < 0) {
        const final = buffered;
        buffered = Buffer.alloc(0);
        state.awaitsAnswer = false;
        return final;
      }
      buffered = buffered.subarray(end + headEnd.length);
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
