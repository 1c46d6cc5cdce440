/** Hashes of passwords (scrypt, as better-auth stores them), loaded when there is a first one. */
const load = () => import('better-auth/crypto');

export const hashPassword = async (password: string): Promise<string> =>
  (await load()).hashPassword(password);

/** Takes some 50 ms of a core, so whoever asks limits the tries. */
export const verifyPassword = async (hash: string, password: string): Promise<boolean> =>
  (await load()).verifyPassword({ hash, password });
