import { providerSeconds } from '#workspaces/identity-provider.ts';

/** `__Host-` where the service is reached by https, as for sessions (#workspaces/accounts.ts). */
const cookie = (name: string, maxAgeSeconds: number) => {
  const names = { plain: `formloom.${name}`, secure: `__Host-formloom.${name}` };
  return {
    /** What the browser sent of it. */
    read(headers: Headers): string | undefined {
      const cookies = (headers.get('Cookie') ?? '').split(/;\s*/);
      for (const each of [names.secure, names.plain]) {
        const found = cookies.find((sent) => sent.startsWith(`${each}=`));
        if (found) return found.slice(each.length + 1);
      }
      return undefined;
    },
    /** For Set-Cookie, where there is something to keep; '' ends it. */
    write(publicUrl: string, value: string | undefined): string[] {
      if (value === undefined) return [];
      const isSecure = publicUrl.startsWith('https:');
      const attributes = `Max-Age=${value === '' ? 0 : maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
      return [`${isSecure ? names.secure : names.plain}=${value}; ${attributes}`];
    },
  };
};

/** The mark of a browser that has signed in before (#workspaces/sign-in.ts), for a year: browsers keep none longer. */
export const deviceCookie = cookie('device', 31_536_000);

/** What a browser keeps, sealed, while its person is at the provider of identities. */
export const askedCookie = cookie('provider', providerSeconds);
