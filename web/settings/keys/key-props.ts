import type { Key } from '#workspaces/keys/shapes.ts';

/** What a dialog about a key is given (keys-screen.tsx). */
export type KeyProps = { workspaceId: string; apiKey: Key; onClose: () => void };
