import { Client, type ClientConfig } from 'pg';

/** Matches libpq variables, such as `PGSSLMODE` and `PGOPTIONS`, which are meant for other servers. */
const isLibpqVariable = (name: string): boolean => /^PG[A-Z]/.test(name);

/** Returns an environment for processes that use the embedded server. */
export const withoutLibpqVariables = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !isLibpqVariable(name)));

/**
 * A connection to the embedded server. The driver reads an environment variable for each missing setting when
 * a client is created, so the variables are hidden at that moment.
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
