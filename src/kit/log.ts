import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';

/*
 * The trace that a caller started (W3C Trace Context). Log lines name it, and deliveries pass it on. We
 * record no spans, so it stays unchanged.
 */

const current = new AsyncLocalStorage<string>();

/** `version-trace-parent-flags`; later versions may add more. */
const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|-)/;
const length = '00-'.length + 32 + 1 + 16 + '-00'.length;

/** Returns a `traceparent` header in the form to pass on, or undefined if it is missing or invalid. */
export function readTraceparent(header: unknown): string | undefined {
  if (typeof header !== 'string' || !pattern.test(header)) return undefined;
  // Version 00 must end here. Of later versions, only the fields of version 00 are kept.
  return header.startsWith('00') && header.length > length ? undefined : `00${header.slice(2, length)}`;
}

export const currentTrace = (): string | undefined => current.getStore();

const currentTraceId = (): string | undefined => currentTrace()?.slice(3, 35);

/** Runs `work` in a trace, or directly if there is none. */
export const runInTrace = <T>(traceparent: string | undefined, work: () => T): T =>
  traceparent === undefined ? work() : current.run(traceparent, work);

/** Runs each request in the trace of its header. Reading a body leaves the trace, so two hooks enter it. */
export function traceRequests(server: FastifyInstance): void {
  const enter = ({ headers: { traceparent } }: FastifyRequest, _reply: unknown, done: () => void): void => {
    if (traceparent === undefined) done();
    else runInTrace(readTraceparent(traceparent), done);
  };
  server.addHook('onRequest', enter);
  server.addHook('preValidation', enter);
}

export type Log = Logger;

/** Lines below `warn` wait this long, so that a busy server writes many at once. `kill -9` loses them. */
const batchMs = 100;
let waiting: string[] = [];
let timer: NodeJS.Timeout | undefined;

function writeWaiting(): void {
  clearTimeout(timer);
  timer = undefined;
  if (waiting.length > 0) writeOutput('stderr', waiting.join(''), waiting.length);
  waiting = [];
}
process.on('exit', writeWaiting);

const standardError = {
  /** Makes pino set `lastLevel` before each line. */
  [Symbol.for('pino.metadata')]: true,
  lastLevel: 0,
  write(line: string): void {
    waiting.push(line);
    if (this.lastLevel >= pino.levels.values['warn']!) writeWaiting();
    else timer ??= setTimeout(writeWaiting, batchMs).unref();
  },
} satisfies DestinationStream & { lastLevel: number };

/**
 * Writes log lines as JSON objects to standard error; standard output is for the output of commands. Bodies,
 * headers and URLs are never logged (loggablePath), which keeps secrets out. Redaction is the second line of
 * defense.
 */
export function openLog(level: Config['logLevel'], destination: DestinationStream = standardError): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: () => {
        const trace = currentTraceId();
        return trace === undefined ? {} : { trace };
      },
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [
          'authorization',
          'cookie',
          'secret',
          'password',
          'key',
          'token',
          '*.authorization',
          '*.cookie',
          '*.secret',
          '*.password',
        ],
        censor: '[redacted]',
      },
    },
    destination,
  );
}

/** The maximum number of characters that wait for a slow reader of a stream. More output is dropped. */
const longestQueue = 1_000_000;

type Name = 'stdout' | 'stderr';

/** The writes that were dropped since this process started, by stream. */
const dropped: Record<Name, number> = { stdout: 0, stderr: 0 };

export const countDroppedWrites = (): Readonly<Record<Name, number>> => dropped;

/** @types/node does not declare `setBlocking`. */
type Handle = { _handle?: { setBlocking?: (isBlocking: boolean) => void } };

/**
 * Keeps this process running if its output fails: the reader is gone (EPIPE), the terminal is closed (EIO) or
 * the disk is full (ENOSPC). Libraries and Node also write directly, so each stream needs an error listener;
 * without one, an error ends the process. A paused terminal (Ctrl-S) blocks no request.
 */
export function ignoreOutputErrors(): void {
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    // `writeOutput` counts the error.
    stream.on('error', () => {});
    if (stream.isTTY) (stream as Handle)['_handle']?.setBlocking?.(false);
  }
}

/**
 * Writes text. If that fails or the queue is full, drops and counts it. Never throws, never waits.
 * @param count how many writes the text counts as.
 */
export function writeOutput(name: Name, text: string, count = 1): void {
  const stream = process[name];
  if (stream.writableLength > longestQueue) dropped[name] += count;
  else
    stream.write(text, (error) => {
      if (error) dropped[name] += count;
    });
}
