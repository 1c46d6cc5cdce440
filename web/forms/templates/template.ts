import type { Settings } from '#ast/settings.ts';
import type { Form } from '#ast/tree.ts';

/** A form to begin with: what it is for, its structure as it is created, and what follows an answer to it. */
export type Template = {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly structure: Form;
  readonly settings?: Settings;
};
