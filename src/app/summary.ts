import { type Config, defaultPublicUrl, isEveryAddress } from '#kit/config.ts';
import { prepareSetup } from '#workspaces/setup.ts';
import type { FormloomDatabase } from './open-database.ts';

/** What a start says at its end: where everything is, and how to set it up and to stop it. */
export async function writeSummary(
  config: Config,
  storage: FormloomDatabase,
  listening: string,
): Promise<string[]> {
  const setupToken = await prepareSetup(storage.database);
  const { publicUrl, webProcesses } = config;
  return [
    '',
    `Formloom is ready at ${publicUrl}`,
    `  API         ${publicUrl}/api/v1   (reference: ${publicUrl}/api/v1/docs)`,
    ...(listening === publicUrl ? [] : [`  Listening   ${listening}`]),
    ...(webProcesses === 1
      ? []
      : [`  Processes   ${webProcesses}   (restart them one by one: kill -USR2 ${process.pid})`]),
    `  Data        ${config.dataDir}`,
    `  Database    ${storage.description}`,
    ...(isEveryAddress(config.host) && publicUrl === defaultPublicUrl(config)
      ? ['  Links       begin with this address; set PUBLIC_URL to the one that people use.']
      : []),
    ...(setupToken
      ? [
          `  Set up      ${publicUrl}/app/setup?token=${setupToken}`,
          '              (works once: it makes the first account)',
        ]
      : []),
    '  Stop with Ctrl-C.',
    '',
  ];
}
