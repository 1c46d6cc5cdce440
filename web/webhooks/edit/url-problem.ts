/**
 * What can be said of a webhook's address while it is typed; undefined when nothing is wrong so far. Whether it is
 * public is found out by the service, when it is saved and again at every send. Specification, "Receiver requirements".
 */
export function urlProblem(text: string): string | undefined {
  if (text === '') return undefined;
  if (/\s/.test(text)) return 'An address has no spaces.';
  if (/^http:/i.test(text))
    return 'Plain http is refused: what is sent could be read on the way. Use https://.';
  if (!/^https:\/\//i.test(text)) return 'The address begins with https://.';
  const url = URL.parse(text);
  if (!url?.hostname) return 'The address is not complete.';
  if (url.username || url.password) return 'The address must not contain a user name or password.';
  return undefined;
}

/** The host, for where an address must be short. */
export const hostOf = (text: string): string => URL.parse(text)?.host ?? text;
