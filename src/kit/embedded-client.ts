import { Client, type ClientConfig } from 'pg';

/** libpq's variables, `PGSSLMODE` and `PGOPTIONS` among them, which describe a server that people connect to by other programs. */
const isLibpqVariable = (name: string): boolean => /^PG[A-Z]/.test(name);

/** An environment for a process that uses the embedded server. */
export const withoutLibpqVariables = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !isLibpqVariable(name)));

/**
 * A connection to the embedded server. The driver reads a variable for each setting that it is not given, more in each version,
 * and does so when a client is made: none of them is there at that moment.
 */
export class EmbeddedClient extends Client {
  constructor(config?: ClientConfig) {
    const hidden = Object.entries(process.env).filter(([name]) => isLibpqVariable(name));
    for (const [name] of hidden) delete process.env[name];
    try {
      super(config);
    } finally {
      Object.assign(process.env, Object.fromEntries(hidden));
    }
  }
}
