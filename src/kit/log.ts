import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import { writeOutput } from './output.ts';

/*
 * The trace that somebody else has begun (W3C Trace Context): it is named in the log lines of what they cause, and goes
 * along in the deliveries of it. We record no spans of our own, so it is passed on as it came.
 */

const current = new AsyncLocalStorage<string>();

/** `version-trace-parent-flags`; a later version may say more behind that. */
const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|-)/;
const length = '00-'.length + 32 + 1 + 16 + '-00'.length;

/** A `traceparent` header as it is passed on; undefined for none, and for one that is not valid. */
export function readTraceparent(header: unknown): string | undefined {
  if (typeof header !== 'string' || !pattern.test(header)) return undefined;
  // Of a later version we know what the first one has; that one ends there.
  return header.startsWith('00') && header.length > length ? undefined : `00${header.slice(2, length)}`;
}

/** The trace that what runs now belongs to. */
export const currentTrace = (): string | undefined => current.getStore();

/** Its name alone, as log lines have it. */
const currentTraceId = (): string | undefined => currentTrace()?.slice(3, 35);

/** Runs `work` as part of a trace; without one as it is. */
export const runInTrace = <T>(traceparent: string | undefined, work: () => T): T =>
  traceparent === undefined ? work() : current.run(traceparent, work);

/** Every request that says so runs in its trace. Reading a body leaves it, so it is entered again after that. */
export function traceRequests(server: FastifyInstance): void {
  const enter = ({ headers: { traceparent } }: FastifyRequest, _reply: unknown, done: () => void): void => {
    if (traceparent === undefined) done();
    else runInTrace(readTraceparent(traceparent), done);
  };
  server.addHook('onRequest', enter);
  server.addHook('preValidation', enter);
}

export type Log = Logger;

const standardError: DestinationStream = { write: (line) => writeOutput('stderr', line) };

/**
 * Structured lines on standard error, one JSON object each; standard output stays free for what a command prints.
 * Secrets are kept out by never logging bodies, headers or addresses (place-of.ts); redaction is the second line of defence.
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
