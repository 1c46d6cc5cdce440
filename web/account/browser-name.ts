/** The first match wins, because several browsers also claim to be other browsers. */
const browsers = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser', 'Samsung Internet'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['CriOS', 'Chrome'],
  ['Safari', 'Safari'],
] as const;
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

/** Names the browser of a user agent string, such as "Firefox on Windows". */
export function describeBrowser(called: string | null): string {
  const find = (names: readonly (readonly [words: string, name: string])[]): string | undefined =>
    names.find(([words]) => called?.includes(words))?.[1];
  const [browser, system] = [find(browsers) ?? 'A browser', find(systems)];
  return system === undefined ? browser : `${browser} on ${system}`;
}
