import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import type { ConnectionReceiver } from './connection-listener.ts';
import { type FromWebProcess, type ToWebProcess, webProcessArgument } from './messages.ts';

/** Thrown with the reason if a web process cannot start to serve. */
export class WebProcessError extends Error {}

/** A web process as the primary sees it. */
export type WebProcess = ConnectionReceiver & {
  /** Numbers start at 1. A replacement gets the number of the process that it replaces. */
  readonly number: number;
  readonly pid: number | undefined;
  /** Resolves when it serves. @throws WebProcessError if it ends before that. */
  readonly ready: Promise<void>;
  /** Resolves when it announces that it is exiting. */
  readonly leaving: Promise<void>;
  /** Resolves when it has ended, with the cause: `exit code 1`, `SIGKILL`. */
  readonly ended: Promise<string>;
  send(message: ToWebProcess): void;
  /** Returns its report (primary-link.ts), or undefined if it does not answer. */
  survey(): Promise<unknown>;
  /** Lets it finish its requests, and kills it after `ms`. */
  end(ms: number): Promise<void>;
  kill(): void;
};

type WebProcessOptions = {
  /** The program, which must call joinPrimary first (primary-link.ts). */
  script: string;
  environment: NodeJS.ProcessEnv;
  answer: (question: unknown) => Promise<unknown>;
  /** A serving process that does not respond for this long is killed. */
  silenceMs?: number;
};

/** No request blocks a process for this long, even on a very busy machine. */
const longestSilenceMs = 30_000;
/** Unanswered pings before that. Pings are counted rather than time: a blocked primary sends none. */
const mostUnanswered = 6;

const surveyMs = 2_000;

export function startWebProcess(number: number, options: WebProcessOptions): WebProcess {
  const { silenceMs = longestSilenceMs } = options;
  const child = fork(options.script, [webProcessArgument, String(number)], { env: options.environment });
  // Connections stay open here until the process confirms them. If it ends first, they go to another process.
  // (Node would keep the last one open and forget it, and its client would wait forever.)
  const handing = new Map<number, { socket: Socket; refused: () => void }>();
  const surveyed = new Map<number, (answer: unknown) => void>();
  let lastId = 0;
  let isSilent = false;
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    // Not 'exit', because the last messages may still be in flight.
    child.once('close', (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      resolve(isSilent ? `${how}, after no sign of life for ${silenceMs / 1_000} s` : how);
    });
  });
  // Runs one turn after `ended`, when the process is dismissed, so that returned connections do not come back
  // here.
  void ended.then(() =>
    setImmediate(() => {
      for (const { socket, refused } of handing.values()) if (!socket.destroyed) refused();
      handing.clear();
    }),
  );
  // A message to a process that has just ended is lost; `ended` reports that.
  const send = (message: ToWebProcess): void => void child.send(message, () => {});
  const kill = (): void => void child.kill('SIGKILL');
  const answer = async (id: number, question: unknown): Promise<void> =>
    send({ kind: 'answer', id, answer: await options.answer(question) });

  let unanswered = 0;
  const listen = (): void => {
    const pings = setInterval(() => {
      if (unanswered < mostUnanswered) {
        unanswered += 1;
        send({ kind: 'ping' });
        return;
      }
      isSilent = true;
      kill();
    }, silenceMs / mostUnanswered);
    void ended.then(() => clearInterval(pings));
  };

  const leaving = Promise.withResolvers<void>();
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message: FromWebProcess) => {
      unanswered = 0;
      if (message.kind === 'alive') return;
      if (message.kind === 'leaving') return leaving.resolve();
      if (message.kind === 'taken') {
        handing.get(message.id)?.socket.destroy();
        handing.delete(message.id);
      } else if (message.kind === 'surveyed') surveyed.get(message.id)?.(message.answer);
      else if (message.kind === 'ready') {
        listen();
        resolve();
      } else if (message.kind === 'failed') reject(new WebProcessError(message.why));
      else void answer(message.id, message.question);
    });
    void ended.then((how) => reject(new WebProcessError(`Process ${number} ended (${how}).`)));
  });
  // If the process is ended early, `ready` may reject without a listener.
  ready.catch(() => {});

  return {
    number,
    pid: child.pid,
    ready,
    leaving: leaving.promise,
    ended,
    send,
    receive(socket, refused) {
      lastId += 1;
      handing.set(lastId, { socket, refused });
      // A failed send is not returned immediately, but when the process has ended. Otherwise it would come
      // back here repeatedly, and the primary would never process the end.
      const message: ToWebProcess = { kind: 'connection', id: lastId };
      child.send(message, socket, { keepOpen: true }, () => {});
    },
    async survey() {
      const id = (lastId += 1);
      const answered = Promise.withResolvers<unknown>();
      surveyed.set(id, answered.resolve);
      const late = setTimeout(answered.resolve, surveyMs, undefined);
      send({ kind: 'survey', id });
      const answer = await answered.promise;
      clearTimeout(late);
      surveyed.delete(id);
      return answer;
    },
    async end(ms) {
      send({ kind: 'end' });
      const forced = setTimeout(kill, ms);
      await ended;
      clearTimeout(forced);
    },
    kill,
  };
}
