/** Why a message was not taken. `deferred`: it may be taken later; `refused`: the same message never will be. */
export type SmtpFailure = {
  kind: 'deferred' | 'refused';
  reason: string;
  /** It was not about this message: no other one would have been taken. */
  isOfServer?: boolean;
};

type SmtpError = Error & { code?: unknown; command?: unknown; response?: unknown; responseCode?: unknown };

const longestReason = 500;

/** What was being said when the server answered no. Only these are about the message itself. */
const aboutMessage: Readonly<Record<string, string>> = {
  'MAIL FROM': 'the sender',
  'RCPT TO': 'the recipient',
  DATA: 'the message',
};

/** Errors before any answer, in words. */
const causes: Readonly<Record<string, string>> = {
  ECONNECTION: 'The connection to the mail server was lost',
  ETIMEDOUT: 'The mail server did not answer in time',
  ESOCKET: 'The mail server cannot be reached',
  EDNS: "The mail server's name cannot be found",
  ETLS: 'No encrypted connection to the mail server could be made',
  EAUTH: 'The mail server does not accept the credentials of SMTP_URL',
  EPROTOCOL: 'The mail server does not speak SMTP as it should',
};

/**
 * A 5xx about the sender, the recipient or the message is final (RFC 5321, 4.2.1). All else may pass: a 4xx, a lost
 * connection, and also a 5xx to the greeting or to the credentials, which an operator can put right.
 */
export function judgeFailure(error: unknown): SmtpFailure {
  const { code, command, response, responseCode, message } = (
    error instanceof Error ? error : new Error(String(error))
  ) as SmtpError;
  const answer = typeof response === 'string' ? tidy(response) : undefined;
  const subject = typeof command === 'string' ? aboutMessage[command] : undefined;
  if (subject !== undefined && typeof responseCode === 'number') {
    if (responseCode >= 500)
      return { kind: 'refused', reason: `The mail server refused ${subject}: ${answer}` };
    return { kind: 'deferred', reason: `The mail server put off ${subject}: ${answer}` };
  }
  // Found before it was sent: an address that this server cannot take, a message above its size.
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return { kind: 'refused', reason: tidy(message) };
  const cause =
    (typeof code === 'string' && causes[code]) || 'The mail could not be handed to the mail server';
  return { kind: 'deferred', reason: `${cause}: ${answer ?? tidy(message)}`, isOfServer: true };
}

/** One line of bounded length: servers answer in several. */
const tidy = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, longestReason);
