import { type DestinationStream, pino, type Logger } from 'pino';
import type { Config } from './config.ts';
import { writeOutput } from './output.ts';
import { currentTraceId } from './trace.ts';

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
