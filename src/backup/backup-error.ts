/** Why a backup was not made, or not restored, with the remedy. */
export class BackupError extends Error {}
