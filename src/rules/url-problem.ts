/**
 * What is wrong with the text of a URL that Formloom is to send requests to, or undefined. Whether the host is public is checked
 * when the URL is saved and at every connection. Specification, "Receiver requirements".
 */
export function urlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  // URL.parse drops tabs and line ends and trims blanks; the text that is stored must be the text that was checked.
  if (/[\s\p{Cc}]/u.test(text)) return 'The URL must not contain spaces.';
  if (!/^https:\/\//i.test(text)) return 'The URL must begin with https://.';
  if (!url?.hostname) return 'This is not a valid URL.';
  if (url.username || url.password) return 'The URL must not contain a user name or password.';
  return undefined;
}

/** The host of a URL, or the text itself if it is no URL. */
export const hostOf = (text: string): string => URL.parse(text)?.host ?? text;
