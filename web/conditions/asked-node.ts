import { own } from '#ast/json.ts';

/** What a condition can ask: an element of the builder's tree, or one of a form as it is published. */
export type AskedNode = { readonly type: string; readonly attrs: Readonly<Record<string, unknown>> };

/** An attribute as text; what is not text is empty. */
export function textOf({ attrs }: Pick<AskedNode, 'attrs'>, name: string): string {
  const value = own(attrs, name);
  return typeof value === 'string' ? value : '';
}

/** The element that an id names, if there is one. */
export type FindAsked = (id: string) => AskedNode | undefined;
