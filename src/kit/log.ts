import { pino, type Logger } from 'pino';
import type { Config } from './config.ts';
import { currentTraceId } from './trace.ts';

export type Log = Logger;

/**
 * Structured lines on standard error, one JSON object each; standard output stays free for what a command prints.
 * Secrets are kept out by never logging bodies, headers or addresses (place-of.ts); redaction is the second line of defence.
 */
export function openLog(level: Config['logLevel'], destination: NodeJS.WritableStream = process.stderr): Log {
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
