/**
 * Returns what is wrong with the URL of an outgoing request, or undefined. Whether the host is public is
 * checked separately, when the URL is saved and at every connection. Specification, "Receiver requirements".
 */
export function urlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  // URL.parse drops tabs and line breaks and trims spaces, but the stored URL must be identical to the
  // checked one.
  if (/[\s\p{Cc}]/u.test(text)) return 'The URL must not contain spaces.';
  if (!/^https:\/\//i.test(text)) return 'The URL must begin with https://.';
  if (!url?.hostname) return 'This is not a valid URL. Enter one like https://example.com/path.';
  if (url.username || url.password) return 'The URL must not contain a user name or password.';
  return undefined;
}

/** Returns the host of a URL, or the text itself if it is not a URL. */
export const hostOf = (text: string): string => URL.parse(text)?.host ?? text;
