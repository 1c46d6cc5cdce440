import { effectiveForm, fillNodes } from '#ast/effective-form.ts';
import type { Form } from '#ast/tree.ts';
import type { Column } from '#kit/statement.ts';

/** A structure as it was sent, with `attrs` and `children` at every node: for answers of the API. */
export const sentStructure: Column<object> = { pg: 'json', read: (value) => fillNodes(value) as object };

/** A structure as it is understood (ast/effective-form.ts): for everything that works with the form. */
export const formTree: Column<Form> = { pg: 'json', read: (value) => effectiveForm(value as object) };
