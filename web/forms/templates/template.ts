import type { Form } from '#ast/tree.ts';

/** A form to begin with: what it is for, and its structure as it is created. */
export type Template = { id: string; title: string; description: string; structure: Form };
