import type { Config } from '#kit/config.ts';
import type { Log } from '#kit/log.ts';
import { type Crew, openCrew } from '#kit/processes/crew.ts';
import { openDoor } from '#kit/processes/door.ts';
import { startWebProcess } from '#kit/processes/web-process.ts';
import { openRequestCounter } from '#workspaces/request-counter.ts';
import { countForProcesses } from './shared-count.ts';

/** The web processes, running, and where they are reached. */
type Serving = { listening: string; crew: Crew };

/**
 * Opens the port and starts WEB_PROCESSES processes behind it. This process itself serves nothing: it has the database,
 * counts requests and keeps the number of the others (docs/decisions/0022).
 * @param databaseUrl where the others find the database.
 * @param endMs the longest that one may take to finish what it has begun.
 * @throws WebProcessError, or the system's error when the port cannot be had; nothing is left running.
 */
export async function serveByProcesses(
  config: Config,
  {
    log,
    databaseUrl,
    endMs,
    answer: answerOther,
    ...program
  }: {
    log: Log;
    databaseUrl: string;
    /** Answers other questions than those of counting. */
    answer: (question: string) => Promise<unknown>;
    endMs: number;
    script: string;
    environment: NodeJS.ProcessEnv;
  },
): Promise<Serving> {
  const door = openDoor();
  // In memory: with Valkey the others count there themselves, and come here only while it is away.
  const count = countForProcesses(await openRequestCounter({ valkeyUrl: undefined, log }));
  const answer = (question: unknown): Promise<unknown> =>
    typeof question === 'string' ? answerOther(question) : count(question);
  const environment = { ...program.environment, DATABASE_URL: databaseUrl };
  const crew = openCrew({
    size: config.webProcesses,
    launch: (number) => startWebProcess(number, { script: program.script, environment, answer }),
    door,
    log,
    endMs,
  });
  // First the port: when it is taken, nothing needs to be started.
  const listening = await door.open(config);
  await crew.start();
  return { listening, crew };
}
