import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { judgeFailure, type SmtpFailure } from './judge-failure.ts';
import type { SmtpConfig } from './read-smtp.ts';

/** How a dialogue ended: the server took the message, or the reason in words why it did not. */
export type SmtpOutcome = { kind: 'sent'; response: string } | SmtpFailure;

/** A message as it goes over the wire, and for whom. */
type SmtpMessage = { recipient: string; raw: Buffer };

/** A dialogue that takes longer is given up; it counts as put off, though the server may have taken the message. */
const deadlineMs = 12_000;
const longestResponse = 500;

/**
 * Hands one message to the mail server, over a connection of its own. Never throws for what the server does.
 * @param signal gives up at once, and throws its reason.
 * @param hear is told each line of the dialogue, without credentials and without the message.
 */
export async function sendMessage(
  config: SmtpConfig,
  { recipient, raw }: SmtpMessage,
  { signal, hear }: { signal?: AbortSignal; hear?: (line: string) => void } = {},
): Promise<SmtpOutcome> {
  // Loaded when there is something to send: an instance without mail does without it.
  const { default: Connection } = await import('nodemailer/lib/smtp-connection');
  signal?.throwIfAborted();
  const connection = new Connection(optionsOf(config, hear));
  const { promise: ended, resolve, reject } = Promise.withResolvers<string>();
  const giveUp = (): void => reject(new Error(`It did not answer within ${deadlineMs / 1_000} s.`));
  const deadline = setTimeout(giveUp, deadlineMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  connection.on('error', reject);
  try {
    talk(connection, config, { recipient, raw }, { resolve, reject });
    return { kind: 'sent', response: (await ended).slice(0, longestResponse) };
  } catch (error) {
    signal?.throwIfAborted();
    return judgeFailure(error);
  } finally {
    clearTimeout(deadline);
    signal?.removeEventListener('abort', giveUp);
    connection.close();
  }
}

/** The dialogue, step by step; the library calls back. */
function talk(
  connection: SMTPConnection,
  { credentials, from }: SmtpConfig,
  { recipient, raw }: SmtpMessage,
  { resolve, reject }: { resolve: (response: string) => void; reject: (error: unknown) => void },
): void {
  const send = (): void =>
    connection.send({ from: from.address, to: [recipient] }, raw, (error, info) => {
      if (error) return reject(error);
      // The message is the server's now; the answer to QUIT is of no interest.
      connection.quit();
      resolve(info.response);
    });
  connection.connect((error) => {
    if (error) return reject(error);
    if (!credentials) return send();
    const { user, password: pass } = credentials;
    connection.login({ user, pass, credentials: { user, pass } }, (failure) =>
      failure ? reject(failure) : send(),
    );
  });
}

function optionsOf(
  { host, port, tls }: SmtpConfig,
  hear?: (line: string) => void,
): ConstructorParameters<typeof SMTPConnection>[0] {
  const listen = (entry: { tnx?: unknown }, text: unknown, ...more: unknown[]): void => {
    if (entry.tnx === 'client') hear?.(`> ${formatLine(text, more)}`);
    if (entry.tnx === 'server') hear?.(`< ${formatLine(text, more)}`);
  };
  const log = {
    level: () => undefined,
    trace: listen,
    debug: listen,
    info: listen,
    warn: listen,
    error: listen,
    fatal: listen,
  };
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'off',
    connectionTimeout: deadlineMs,
    greetingTimeout: deadlineMs,
    socketTimeout: deadlineMs,
    dnsTimeout: deadlineMs,
    ...(hear && { logger: log, transactionLog: true }),
  };
}

const formatLine = (text: unknown, more: readonly unknown[]): string =>
  [text, ...more].map(String).join(' ').slice(0, longestResponse);
