export type FromWebProcess =
  /** It serves and accepts connections. */
  | { kind: 'ready' }
  /** It cannot serve; `why` is the reason for the operator. It exits by itself. */
  | { kind: 'failed'; why: string }
  /** It exits after an unexpected error and needs no more connections. */
  | { kind: 'leaving' }
  /** A question of the application. The answer has the same id. */
  | { kind: 'ask'; id: number; question: unknown }
  /** It received the connection with this id. */
  | { kind: 'taken'; id: number }
  | { kind: 'surveyed'; id: number; answer: unknown }
  /** The answer to `ping`: its event loop is running. */
  | { kind: 'alive' };

export type ToWebProcess =
  /** Arrives with the socket. The answer is `taken`. */
  | { kind: 'connection'; id: number }
  | { kind: 'answer'; id: number; answer: unknown }
  /** Requests a report. The answer is `surveyed`. */
  | { kind: 'survey'; id: number }
  /** Expects an immediate `alive`. */
  | { kind: 'ping' }
  /** The service is about to stop; readiness checks must fail. */
  | { kind: 'stopping' }
  /** Finish the requests and exit. This is the last message. */
  | { kind: 'end' };

/** The first argument of a web process, before its number. It shows in the system's list of processes. */
export const webProcessArgument = 'web-process';
