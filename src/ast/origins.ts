/** Origins that one list may name. */
export const originLimit = 20;

/**
 * Whether a text is the origin of a web page, as browsers write it: `https://example.com`, `http://localhost:8080`, or
 * `https://*.example.com` for all hosts below. Nothing else may come through: it is written into a header.
 */
export function isOrigin(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length <= 255 &&
    /^https?:\/\/(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::\d{1,5})?$/.test(
      text,
    )
  );
}

/** Whether a list names an origin, as browsers write it: itself, or by `*.` all hosts below one. */
export function namesOrigin(list: readonly string[], origin: string): boolean {
  return list.some((entry) => {
    const [scheme = '', below] = entry.split('*');
    return below === undefined ? entry === origin : origin.startsWith(scheme) && origin.endsWith(below);
  });
}
