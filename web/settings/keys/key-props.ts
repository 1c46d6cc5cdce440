import type { Key } from '#workspaces/keys/shapes.ts';

/** What a dialog about a key is given (key-actions.tsx). */
export type KeyProps = { workspaceId: string; apiKey: Key; onClose: () => void };
