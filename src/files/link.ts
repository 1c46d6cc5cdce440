import { type LinkTarget, signLink, verifyLink } from '#kit/personal-link.ts';
import type { Vault } from '#kit/vault.ts';

/** Signed addresses live for one hour (specification, "Limits"). */
export const linkSeconds = 3_600;

/** Makes and checks download addresses: `{publicUrl}/files/<workspace>/<form>/<file>?expires=<unix seconds>&signature=…`. */
export type FileLinks = {
  /** @param at when its hour begins; now, when left out. The same moment gives the same address. */
  sign: (file: LinkTarget, at?: Date) => string;
  /** Whether the signature is ours and its hour is not over. */
  verify(file: LinkTarget, expires: string, signature: string): boolean;
};

export function openFileLinks({
  vault,
  publicUrl,
  now,
}: {
  vault: Vault;
  publicUrl: string;
  now: () => Date;
}): FileLinks {
  return {
    sign(file, at = now()) {
      const { workspaceId, formId, id } = file;
      const expires = String(Math.floor(at.getTime() / 1000) + linkSeconds);
      const signature = signLink(vault, 'file links', file, expires);
      return `${publicUrl}/files/${workspaceId}/${formId}/${id}?expires=${expires}&signature=${signature}`;
    },
    verify: (file, expires, signature) =>
      verifyLink(vault, 'file links', signature, file, expires) &&
      /^\d{1,12}$/.test(expires) &&
      Number(expires) >= now().getTime() / 1000,
  };
}
