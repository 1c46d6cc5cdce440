import type { Vault } from '#kit/vault.ts';

/** Signed addresses live for one hour (specification, "Limits"). */
export const linkSeconds = 3_600;

/** Makes and checks download addresses: `{publicUrl}/files/<workspace>/<file>?expires=<unix seconds>&signature=…`. */
export type FileLinks = {
  /** @param at when its hour begins; now, when left out. The same moment gives the same address. */
  sign: (workspaceId: string, fileId: string, at?: Date) => string;
  /** Whether the signature is ours and its hour is not over. */
  verify(workspaceId: string, fileId: string, expires: string, signature: string): boolean;
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
  const signed = (workspaceId: string, fileId: string, expires: string): string =>
    `${workspaceId}/${fileId}/${expires}`;
  return {
    sign(workspaceId, fileId, at = now()) {
      const expires = String(Math.floor(at.getTime() / 1000) + linkSeconds);
      const signature = vault.sign('file links', signed(workspaceId, fileId, expires));
      return `${publicUrl}/files/${workspaceId}/${fileId}?expires=${expires}&signature=${signature}`;
    },
    verify: (workspaceId, fileId, expires, signature) =>
      vault.verify('file links', signed(workspaceId, fileId, expires), signature) &&
      /^\d{1,12}$/.test(expires) &&
      Number(expires) >= now().getTime() / 1000,
  };
}
