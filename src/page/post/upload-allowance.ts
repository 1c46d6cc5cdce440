import type { RequestCounter } from '#workspaces/request-counter.ts';

/**
 * What one address may upload in a day, in MB: each file counts as one at least. Files that no submission claims are
 * kept for a day, so this bounds what a stranger can fill the disk with; it is 2,000 attachments of an office.
 */
const megabytesPerDay = 2_000;

const daySeconds = 86_400;
const megabyte = 1024 * 1024;

/** How much of the day's allowance is left to an address: asked before a file is stored, and told what it was after. */
export type UploadAllowance = {
  /** Counts a file that begins to arrive. Returns whether it may. */
  begin(): Promise<boolean>;
  /** Counts the rest of it, when it has arrived. Returns whether it may stay. */
  end(bytes: number): Promise<boolean>;
};

/** @param address as addressKey makes it. */
export function openUploadAllowance(counter: RequestCounter, address: string): UploadAllowance {
  const take = async (megabytes: number): Promise<boolean> => {
    const counts = await Promise.all(
      Array.from({ length: megabytes }, () => counter.count(`uploads from ${address}`, daySeconds)),
    );
    return counts.every(({ requests }) => requests <= megabytesPerDay);
  };
  return { begin: () => take(1), end: (bytes) => take(Math.floor(bytes / megabyte)) };
}
