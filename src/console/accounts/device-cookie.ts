/** A year: browsers keep no cookie longer. */
const maxAgeSeconds = 31_536_000;
/** `__Host-` where the service is reached by https, as for sessions (#workspaces/accounts.ts). */
const names = { plain: 'formloom.device', secure: '__Host-formloom.device' } as const;

/** The mark of a browser that has signed in before (#workspaces/sign-in.ts), if it sent one. */
export function readDevice(headers: Headers): string | undefined {
  const cookies = (headers.get('Cookie') ?? '').split(/;\s*/);
  for (const name of [names.secure, names.plain]) {
    const found = cookies.find((cookie) => cookie.startsWith(`${name}=`));
    if (found) return found.slice(name.length + 1);
  }
  return undefined;
}

/** The cookie that keeps a mark, where there is one to keep. */
export function writeDevice(publicUrl: string, mark: string | undefined): string[] {
  if (mark === undefined) return [];
  const isSecure = publicUrl.startsWith('https:');
  const name = isSecure ? names.secure : names.plain;
  const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return [`${name}=${mark}; ${attributes}`];
}
