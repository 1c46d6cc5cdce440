/** What a web process tells the primary. */
export type FromWebProcess =
  /** It serves: connections may come. */
  | { kind: 'ready' }
  /** It cannot serve; in words for the operator. It ends by itself. */
  | { kind: 'failed'; why: string }
  /** It ends by itself after an unexpected error: connections go elsewhere. */
  | { kind: 'leaving' }
  /** A question of the application's, answered under the same id. */
  | { kind: 'ask'; id: number; question: unknown }
  /** It has the connection of this id. */
  | { kind: 'taken'; id: number }
  /** What was asked by `survey`. */
  | { kind: 'surveyed'; id: number; answer: unknown }
  /** The answer to `ping`: its loop still turns. */
  | { kind: 'alive' };

/** What the primary tells a web process. */
export type ToWebProcess =
  /** Comes with the socket, and is answered by `taken`. */
  | { kind: 'connection'; id: number }
  | { kind: 'answer'; id: number; answer: unknown }
  /** To be answered by `surveyed`, with what this process says of itself. */
  | { kind: 'survey'; id: number }
  /** To be answered at once. */
  | { kind: 'ping' }
  /** The whole service is about to end: say so to those who ask whether it is ready. */
  | { kind: 'stopping' }
  /** Finish what has begun, and end. Nothing follows. */
  | { kind: 'end' };

/** The first arguments of a web process: these, then its number. They are seen in the system's list of processes. */
export const webProcessArgument = 'web-process';
