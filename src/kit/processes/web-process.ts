import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Receiver } from './door.ts';
import { type FromWebProcess, type ToWebProcess, webProcessArgument } from './messages.ts';

/** Why a web process could not begin to serve, in words. */
export class WebProcessError extends Error {}

/** A process that serves connections, as the primary sees it. */
export type WebProcess = Receiver & {
  /** 1 and up; who replaces it has the same. */
  readonly number: number;
  readonly pid: number | undefined;
  /** Resolves when it serves. @throws WebProcessError when it ended before. */
  readonly ready: Promise<void>;
  /** Resolves when it is about to end by itself, if it says so. */
  readonly leaving: Promise<void>;
  /** Resolves when it is gone, to how: `exit code 1`, `SIGKILL`. */
  readonly ended: Promise<string>;
  tell(message: ToWebProcess): void;
  /** What it says of itself (primary-link.ts); undefined when it does not answer. */
  survey(): Promise<unknown>;
  /** Has it finish what has begun. One that does not end within `ms` is killed. */
  end(ms: number): Promise<void>;
  kill(): void;
};

type WebProcessOptions = {
  /** The program, which begins with joinPrimary (primary-link.ts). */
  script: string;
  environment: NodeJS.ProcessEnv;
  answer: (question: unknown) => Promise<unknown>;
  /** A process that serves and gives no sign of life for this long is killed. */
  silenceMs?: number;
};

/** So long no request keeps a process from everything else, also on a machine that is very busy. */
const longestSilenceMs = 30_000;
/** How many pings stay unanswered before that. They are counted, and not the time: a primary that stood still itself has asked nothing. */
const mostUnanswered = 6;

/** Whoever asks all processes does not wait longer for one of them. */
const surveyMs = 2_000;

export function startWebProcess(number: number, options: WebProcessOptions): WebProcess {
  const { silenceMs = longestSilenceMs } = options;
  const child = fork(options.script, [webProcessArgument, String(number)], { env: options.environment });
  // Until it says that it has them, connections are kept open here as well: those of one that ends before are given to
  // another. (Node would keep the last one open and forget it, and its client would wait for ever.)
  const handing = new Map<number, { socket: Socket; refused: () => void }>();
  const surveyed = new Map<number, (answer: unknown) => void>();
  let lastId = 0;
  let isSilent = false;
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    // Not 'exit': what it said last would still be on its way.
    child.once('close', (code, signal) => {
      const how = signal ?? `exit code ${code}`;
      resolve(isSilent ? `${how}, after no sign of life for ${silenceMs / 1_000} s` : how);
    });
  });
  // In a later turn than that in which those who wait for its end hear of it: by then it is dismissed, and what is
  // given back does not come here again.
  void ended.then(() =>
    setImmediate(() => {
      for (const { socket, refused } of handing.values()) if (!socket.destroyed) refused();
      handing.clear();
    }),
  );
  // A message to one that has just ended is lost, and `ended` says so.
  const tell = (message: ToWebProcess): void => void child.send(message, () => {});
  const kill = (): void => void child.kill('SIGKILL');
  const answer = async (id: number, question: unknown): Promise<void> =>
    tell({ kind: 'answer', id, answer: await options.answer(question) });

  let unanswered = 0;
  const listen = (): void => {
    const pings = setInterval(() => {
      if (unanswered < mostUnanswered) {
        unanswered += 1;
        tell({ kind: 'ping' });
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
  // Whoever ends it early does not wait for it to be ready.
  ready.catch(() => {});

  return {
    number,
    pid: child.pid,
    ready,
    leaving: leaving.promise,
    ended,
    tell,
    receive(socket, refused) {
      lastId += 1;
      handing.set(lastId, { socket, refused });
      // What cannot be sent is given back when this process has ended. At once, it would come here again and again, and
      // the primary would never hear that it has ended.
      const message: ToWebProcess = { kind: 'connection', id: lastId };
      child.send(message, socket, { keepOpen: true }, () => {});
    },
    async survey() {
      const id = (lastId += 1);
      const answered = Promise.withResolvers<unknown>();
      surveyed.set(id, answered.resolve);
      const late = setTimeout(answered.resolve, surveyMs, undefined);
      tell({ kind: 'survey', id });
      const answer = await answered.promise;
      clearTimeout(late);
      surveyed.delete(id);
      return answer;
    },
    async end(ms) {
      tell({ kind: 'end' });
      const forced = setTimeout(kill, ms);
      await ended;
      clearTimeout(forced);
    },
    kill,
  };
}
